// @module-tag long
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { record, recordedFiles, replayCli, shopFigures, shopFile } from './setup.ts';

describe('lanefold replay', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  const contents = async (thread: string) => {
    const { rows } = await database.pool.query(
      'select role, content, tool_calls from lanefold.lane_context where thread_id = $1 order by ordinal',
      [thread],
    );
    return rows as { role: string; content: string; tool_calls: { arguments_raw: string }[] | null }[];
  };

  test('a recording comes back from lane_context as it was recorded', async () => {
    const { code, stdout } = await replayCli(database, shopFile, '--json', '--concurrency', '3');
    expect(JSON.parse(stdout)).toMatchObject({
      ...shopFigures,
      mismatches: 0,
      queue: 'postgres',
      concurrency: 3,
      first_mismatches: [],
    });
    expect(code).toBe(0);

    type Traj = { role: string; content: string | null; tool_calls?: { function: { arguments: string } }[] }[];
    const shop = JSON.parse(readFileSync(shopFile, 'utf8')) as { traj: Traj }[];
    for (const [i, { traj }] of shop.entries()) {
      const rows = await contents(`shop:${i}`);
      expect(rows.map(({ role, content }) => ({ role, content }))).toEqual(
        traj.map(({ role, content }) => ({ role, content: content ?? '' })),
      );
      expect(rows.map((row) => row.tool_calls?.map((call) => call.arguments_raw))).toEqual(
        traj.map((message) => message.tool_calls?.map((call) => call.function.arguments)),
      );
    }
  });

  test('each user message becomes a run, limited to its recorded turns', async () => {
    expect((await replayCli(database, shopFile, '--prefix', 'runs-')).code).toBe(0);
    const { rows } = await database.pool.query(
      `select request_id, status, termination_reason, options -> 'max_iterations' as turns from lanefold.run
       where thread_id like 'runs-shop:%' order by thread_id, created_at`,
    );
    expect(rows).toEqual([
      { request_id: 'message-1', status: 'completed', termination_reason: 'final_answer', turns: 3 },
      { request_id: 'message-8', status: 'completed', termination_reason: 'final_answer', turns: 1 },
      { request_id: 'message-0', status: 'completed', termination_reason: 'max_iterations', turns: 1 },
      { request_id: 'message-1', status: 'completed', termination_reason: 'max_iterations', turns: 2 },
      { request_id: 'message-6', status: 'completed', termination_reason: 'final_answer', turns: 1 },
      { request_id: 'message-8', status: 'completed', termination_reason: 'final_answer', turns: 1 },
    ]);
  });

  test('prints one figure per line and deletes its queue afterwards', async () => {
    const { code, stdout } = await replayCli(database, shopFile, '--prefix', 'plain-', '--concurrency', '1');
    expect(code).toBe(0);
    const figures = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/)),
    );
    expect(figures).toMatchObject({ threads: '3', runs: '6', model_calls: '9', tool_calls: '6', mismatches: '0' });
    expect(Number(figures.runs_per_s)).toBeGreaterThan(0);
    const { rows } = await database.pool.query('select count(*)::int as jobs from bullmq.job');
    expect(rows).toEqual([{ jobs: 0 }]);
  });

  test('reports an impossible recording as a mismatch with its position', async () => {
    const file = record('liar.json', [
      [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', name: 'glance', content: 'seen' },
        { role: 'assistant', content: 'Seen.' },
      ],
    ]);
    const { code, stdout } = await replayCli(database, file);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^mismatches +2$/m);
    expect(stdout).toContain('liar:0, message 2, in model_call: name differs (- recorded, + replayed)');
    expect(stdout).toContain('- "glance"\n  + "look"');
    expect(stdout).toContain('liar:0, message 2, in lane_context');
  });

  test('rejects a taken thread id before anything is written', async () => {
    const hello = [{ role: 'user', content: 'hello' }];
    await database.pool.query(`select lanefold.create_thread('used:2', '{}')`);
    const file = record('used.json', [hello, hello, hello]);
    const refused = await replayCli(database, file);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^lanefold: Thread used:2 already exists.*\[thread_exists\]\nhint: .*--prefix/m);
    const { rows } = await database.pool.query(`select id from lanefold.thread where id like 'used:%'`);
    expect(rows).toEqual([{ id: 'used:2' }]);
    const { code, stdout } = await replayCli(database, file, '--prefix', 'again-', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { threads: 3, runs: 0, mismatches: 0 }]);
    expect(await contents('again-used:2')).toMatchObject([{ role: 'user', content: 'hello' }]);
  });

  const files = recordedFiles();
  if (files.length === 0) console.log('LANEFOLD_RECORDINGS is not set: the replay of full recordings is left out.');
  for (const file of files) {
    test(`all of ${path.basename(file)}`, { timeout: 300_000 }, async () => {
      const { code, stdout, stderr } = await replayCli(database, file, '--json', '--concurrency', '32');
      expect(stderr).not.toContain('lanefold:');
      expect(JSON.parse(stdout)).toMatchObject({ mismatches: 0, first_mismatches: [] });
      expect(code).toBe(0);
    });
  }
});
