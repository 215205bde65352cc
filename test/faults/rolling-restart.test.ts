// @module-tag long
import path from 'node:path';
import { createLanefold, type Lanefold } from 'lanefold';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startCli, type CliProcess } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import type { TestLanefold } from '../support/lanefold.ts';
import { eventsOf, expectSound } from '../support/log.ts';
import { startModelServer, type ModelServer, type RecordedRequest, type Reply } from '../support/openai-server.ts';
import { deferred, until } from '../support/until.ts';
import agents from './fixtures/agents.ts';
import { shapeOf } from './log-shape.ts';

const runs = 12;
const file = path.resolve(import.meta.dirname, 'fixtures/agents.ts');

/** A tool call, then an answer. Depends only on the conversation, so that a repeated call gets the same response. */
const answer = ({ body }: RecordedRequest): Reply => {
  const { messages } = body as { messages: { role: string }[] };
  return messages.at(-1)!.role === 'user'
    ? { text: 'Noting.', toolCalls: [{ id: 'c1', name: 'note', arguments: '{"n":1}' }] }
    : { text: 'Noted.' };
};

describe('a rolling restart of worker processes under load', () => {
  let database: TestDatabase;
  let server: ModelServer;
  let lanefold: TestLanefold;
  let workers: CliProcess[];
  beforeEach(async () => {
    workers = [];
    database = await createDatabase();
    server = await startModelServer();
    vi.stubEnv('OPENAI_BASE_URL', server.url);
    vi.stubEnv('OPENAI_API_KEY', 'test');
    const own: Lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents });
    lanefold = { ...own, database, options: {} };
  });
  afterEach(async () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
    await Promise.all(workers.map((worker) => worker.ended));
    await lanefold?.close();
    await server?.close();
    await database?.drop();
    vi.unstubAllEnvs();
  });

  const startWorker = async (): Promise<CliProcess & { id: string }> => {
    const worker = startCli(['--agents', file, '--json', '--grace', '100'], {
      program: 'dist/workers/worker.js',
      env: { DATABASE_URL: database.url },
    });
    workers.push(worker);
    const ready = JSON.parse(await worker.says('stdout', 'ready')) as { worker_id: string };
    return { ...worker, id: ready.worker_id };
  };
  const stop = async (worker: CliProcess & { id: string }) => {
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    const { rows } = await database.pool.query(
      "select count(*)::int from lanefold.run where status = 'running' and worker_id = $1",
      [worker.id],
    );
    // released, not left until the leases expire
    expect(rows).toEqual([{ count: 0 }]);
    const last = worker.said().stdout.trimEnd().split('\n').at(-1)!;
    return JSON.parse(last) as { event: string; released: number };
  };

  test('fails no run, and every log equals that of an undisturbed run', async () => {
    server.reply(answer, answer);
    const first = await startWorker();
    const control = await lanefold.runs.enqueue({ agent: 'slow', input: 'go' });
    await lanefold.runs.wait(control);
    const undisturbed = await shapeOf(lanefold, control.threadId);
    const kindsOf = async (threadId: string) =>
      (await eventsOf(lanefold, threadId)).map(({ kind, data }) => [kind, data['call_id'] ? 'call' : '']);

    const gate = deferred();
    const held = async (request: RecordedRequest) => gate.promise.then(() => answer(request));
    server.reply(...Array.from({ length: 20 * runs }, () => held));
    const before = server.requests.length;
    const accepted = await Promise.all(
      Array.from({ length: runs }, () => lanefold.runs.enqueue({ agent: 'slow', input: 'go' })),
    );
    await until('all runs wait for the model', () => server.requests.length - before === runs);

    const second = await startWorker();
    expect(await stop(first)).toMatchObject({ event: 'stopped', released: runs });
    await until(
      'the second worker has called the model for every run',
      () => server.requests.length - before === 2 * runs,
    );
    const third = await startWorker();
    expect(await stop(second)).toMatchObject({ event: 'stopped', released: runs });
    await until(
      'the third worker has called the model for every run',
      () => server.requests.length - before === 3 * runs,
    );
    gate.resolve();

    const undisturbedKinds = await kindsOf(control.threadId);
    for (const run of accepted) {
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Noted.' });
      expect(await shapeOf(lanefold, run.threadId)).toEqual(undisturbed);
      const kinds = await kindsOf(run.threadId);
      expect(kinds.filter(([kind]) => kind === 'llm_lost')).toHaveLength(2);
      // apart from the started and lost events of each lost call, the trace is the same
      const lost = kinds.findIndex(([kind]) => kind === 'llm_lost');
      expect(kinds.toSpliced(lost, 4)).toEqual(undisturbedKinds);
      await expectSound(lanefold, run.threadId);
    }
    expect(server.requests.length - before).toBe(4 * runs);
    expect(await stop(third)).toMatchObject({ event: 'stopped', released: 0 });
  });
});
