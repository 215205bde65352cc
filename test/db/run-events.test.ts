import { beforeAll, expect, test } from 'vitest';
import { citusLacks } from '../support/citus-lacks.ts';
import { newThread, rows, useLog } from './helpers.ts';
import { planNodes, type Explained } from './plan.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();

let threadId: string;
beforeAll(async () => {
  threadId = await newThread(log);
  const late = sqlRun(log.db, threadId, 'late');
  for (let n = 0; n < 60; n++) {
    const run = sqlRun(log.db, threadId, `run-${n}`);
    await run.enqueue();
    if (n === 10) await late.enqueue({ busy: 'wait' });
    await run.claim();
    await run.commit(0, asks(['a']));
    // ends between two commits of another run
    if (n === 10) await late.cancel();
    await run.commit(1, results(['a']));
    await run.commit(2, answer('done'));
  }
  // autovacuum may do so at any time, and then the planner knows that the tables are small
  await rows(log.db, 'analyze lanefold._event_batch, lanefold._run, lanefold.thread');
});

test('a run row has the range of its events', async () => {
  const wrong = await rows(
    log.db,
    `select r.id from lanefold._run r join (
       select run_id, min(event_seq) as first, max(event_seq + jsonb_array_length(events)) - 1 as last
       from lanefold._batch where thread_id = $1 group by run_id) b on b.run_id = r.id
     where r.thread_id = $1 and (r.first_event_seq, r.last_event_seq) is distinct from (b.first, b.last)`,
    threadId,
  );
  expect(wrong).toEqual([]);
  expect(
    await rows(
      log.db,
      'select count(*)::int as n from lanefold._run where thread_id = $1 and last_event_seq is not null',
      threadId,
    ),
  ).toEqual([{ n: 61 }]);
});

test.skipIf(citusLacks.plans).each([
  ['run-3', 0],
  ['run-10', 1],
  ['late', 0],
])('reading those of %s reads those of %d other commits', async (run, others) => {
  const client = await log.pool.connect();
  await client.query('set enable_seqscan = off');
  const { rows: explained } = await client.query<Explained>(
    `explain (analyze, format json) select * from lanefold.run_event where thread_id = '${threadId}' and run_id = '${run}'`,
  );
  client.release(true);
  const scan = planNodes(explained[0]!).find((node) => node['Relation Name'] === '_event_batch')!;
  expect(scan['Rows Removed by Filter'] ?? 0).toBe(others);
});

test.skipIf(citusLacks.plans)('dropping the traces of two runs of a long thread reads those runs alone', async () => {
  const client = await log.pool.connect();
  try {
    await client.query('begin');
    const { rows: dropped } = await client.query("select lanefold.drop_trace($1, array['run-3', 'run-5']) as n", [
      threadId,
    ]);
    expect(dropped).toEqual([{ n: 2 }]);
    const { rows: read } = await client.query<{ fetched: number }>(
      "select pg_stat_get_xact_tuples_fetched('lanefold._event_batch'::regclass)::int as fetched",
    );
    // three commits and a claim each, found once and deleted once
    expect(read[0]!.fetched).toBeLessThanOrEqual(2 * 4 * 2);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('a run that lost its worker keeps all its events until its trace is dropped', async () => {
  const threadId = await newThread(log);
  for (const id of ['claimed', 'finished']) {
    const run = sqlRun(log.db, threadId, id);
    await run.enqueue();
    await run.claim();
    await run.commit(0, asks(['a']), { leaseMs: -1_000 });
    if (run.id === 'claimed') {
      await run.claim();
      await run.commit(1, results(['a']), { lease: 2 });
      await run.commit(2, answer('done'), { lease: 2 });
    } else await run.finish({ status: 'failed', reason: 'error', error: { type: 'model', message: 'broken' } });
    expect((await run.events())[0]).toBe('request_started');
    expect(await run.events()).toHaveLength((await run.row())['event_count'] as number);
  }
  // taken back: the invariants that hold at the end are those of whole traces
  const client = await log.pool.connect();
  await client.query('begin');
  await client.query('set local role lanefold_owner');
  await client.query("update lanefold._run set finished_at = now() - interval '1 day' where thread_id = $1", [
    threadId,
  ]);
  await client.query("select lanefold.drop_trace($1, '{claimed,finished}')", [threadId]);
  const { rows: left } = await client.query('select from lanefold._event_batch where thread_id = $1', [threadId]);
  await client.query('rollback');
  client.release();
  expect(left).toEqual([]);
});
