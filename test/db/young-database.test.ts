import { beforeAll, expect, test } from 'vitest';
import { citusLacks } from '../support/citus-lacks.ts';
import { newThread, rows, useLog } from './helpers.ts';
import { planNodes, type Explained } from './plan.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();

// A database that nobody has analyzed yet: the planner guesses, and a wrong guess reads every thread.
let threadId: string;
beforeAll(async () => {
  for (let n = 0; n < 30; n++) {
    threadId = await newThread(log, { systemPrompt: 'p' });
    const run = sqlRun(log.db, threadId, 'run');
    await run.enqueue();
    await run.claim();
    await run.commit(0, asks(['a']));
    await run.commit(1, results(['a']));
    await run.commit(2, answer('done'));
  }
});

test.skipIf(citusLacks.plans).each([
  ['run_ended', "select lanefold.run_ended($1, 'run')"],
  ['run_marks', "select * from lanefold.run_marks($1, '{run}')"],
  ['new_events', 'select * from lanefold.new_events($1, -1, 100)'],
  ['new_events of an idle thread', 'select * from lanefold.new_events($1, 1000, 100)'],
  ['events_after', 'select * from lanefold.events_after($1, -1, 100)'],
  ['lane_context_at', "select * from lanefold.lane_context_at($1, 'default', 100)"],
  ['lane_config_at', "select * from lanefold.lane_config_at($1, 'default', 100)"],
  ['thread_state_at', 'select lanefold.thread_state_at($1, 100)'],
  ['the view lane', "select * from lanefold.lane where thread_id = $1 and context_ref = 'default'"],
  ['the view lane_context', "select * from lanefold.lane_context where thread_id = $1 and context_ref = 'default'"],
  ['the view run_event', "select * from lanefold.run_event where thread_id = $1 and run_id = 'run'"],
])('without statistics, %s scans no table', async (_, statement) => {
  const client = await log.pool.connect();
  try {
    await client.query('begin');
    await client.query(statement, [threadId]);
    const { rows: scanned } = await client.query(
      `select relname from pg_class where relnamespace = 'lanefold'::regnamespace and relkind = 'r' and pg_stat_get_xact_numscans(oid) > 0`,
    );
    expect(scanned).toEqual([]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test.skipIf(citusLacks.plans)('thread_state_at reads the changes of the state and no other entry', async () => {
  const body = await rows<{ text: string }>(
    log.db,
    "select prosrc as text from pg_proc where oid = 'lanefold.thread_state_at'::regproc",
  );
  const statement = /\bin\n([^]*?)\n\s*loop\b/.exec(body[0]!.text)![1]!;
  const own = statement.replace('p_thread_id', `'${threadId}'`).replace('p_upto', '100');
  const [explained] = await rows<Explained>(log.db, `explain (analyze, format json) ${own}`);
  const probe = { 'Index Name': '_entry_state', 'Actual Rows': 0 };
  const reading = planNodes(explained!).filter((node) => 'Index Name' in node);
  expect(reading).toMatchObject([probe]);
});

test.skipIf(citusLacks.plans).each(['lane', 'lane_context'])(
  'a lookup of one lane in %s reads that lane only',
  async (view) => {
    const [explained] = await rows<Explained>(
      log.db,
      `explain (analyze, format json) select * from lanefold.${view} where thread_id = '${threadId}' and context_ref = 'default'`,
    );
    const lanes = planNodes(explained!).filter((node) => node['Relation Name'] === '_lane');
    expect(lanes.length).toBeGreaterThan(0);
    const probe = { 'Node Type': expect.stringMatching(/^Index/), 'Actual Rows': 1, 'Actual Loops': 1 };
    for (const lane of lanes) expect(lane).toMatchObject(probe);
  },
);
