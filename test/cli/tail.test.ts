// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../support/log.ts';
import { startPair, type Pair } from '../support/two-processes.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './cli.ts';

describe('tail', () => {
  let pair: Pair;
  let env: Record<string, string>;
  beforeAll(async () => {
    // The command uses the default queue.
    pair = await startPair({ queuePrefix: 'lf' });
    env = { DATABASE_URL: pair.front.database.url };
  });
  afterAll(async () => {
    await pair?.close();
  });

  const start = (threadId?: string) =>
    pair.front.runs.enqueue({ agent: 'typist', input: 'hi', ...(threadId ? { threadId } : {}) });

  test('shows a run live and ends with it', async () => {
    const run = await start();
    const tail = startCli(['tail', run.threadId, run.id], { env });
    (await pair.model.next()).stop(
      { id: 'c1', name: 'look', args: { at: 'the sea' } },
      { id: 'c2', name: 'look', args: { at: 'nothing' } },
    );
    const keys = await pair.model.next();
    keys.type('Only ');
    await tail.says('stdout', 'Only ');
    expect(tail.process.exitCode).toBeNull();
    keys.type('the sea.');
    keys.stop();
    const { code, stdout, stderr } = await tail.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.replaceAll(/\d+ ms/g, '_ ms').split('\n')).toEqual([
      `run ${run.id}`,
      '→ look({"at":"the sea"})',
      '→ look({"at":"nothing"})',
      '← look ok in _ ms  {"seen":"the sea"}',
      expect.stringMatching(/^← look error in _ ms {2}\{"ok":false,.*There is nothing\./),
      'Only the sea.',
      'completed (final_answer), 30 tokens',
      '',
    ]);
  });

  test('follows a thread across runs until Ctrl-C, with --json one item per line', async () => {
    const first = await start();
    (await pair.model.next()).stop();
    await pair.front.runs.wait(first);
    const tail = startCli(['tail', first.threadId, '--json', '--after', '1'], { env });
    await tail.says('stdout', 'request_completed');
    const second = await start(first.threadId);
    const keys = await pair.model.next();
    keys.type('Hello.');
    await tail.says('stdout', 'Hello.');
    keys.stop();
    await pair.front.runs.wait(second);
    const last = (await eventsOf(pair.front, first.threadId)).at(-1)!;
    await tail.says('stdout', `"event_seq":${last.event_seq},`);
    tail.process.kill('SIGINT');
    const { code, stdout } = await tail.ended;
    const items = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; event_seq: number; kind: string });
    const events = items.filter((item) => item.type === 'event');
    expect(code).toBe(0);
    expect(events.map((event) => event.event_seq)).toEqual(events.map((_, i) => i + 2));
    expect(items).toContainEqual({
      type: 'llm_delta',
      run_id: second.id,
      llm_call_id: `${second.id}.1`,
      offset: 0,
      text: 'Hello.',
    });
  });

  test('reports a missing thread or run', async () => {
    const { code, stderr } = await callCli(['tail', 'nowhere'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('[thread_not_found]')]);
  });
});
