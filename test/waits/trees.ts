import type { RunHandle, RunRef } from 'lanefold';
import { expect } from 'vitest';
import { answerOf, type Plan } from '../faults/fixtures/tree-agent.ts';
import type { FaultHarness } from '../faults/harness.ts';
import { expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';

export const startTree = (harness: FaultHarness, plan: Plan): Promise<RunHandle> =>
  harness.runs.enqueue({ agent: 'tree', input: JSON.stringify(plan) });

/** The plans of a run and of all below it, in no particular order. */
export const plansIn = (plan: Plan): Plan[] => [
  plan,
  ...plan.rounds.flat().flatMap((call) => ('plan' in call ? plansIn(call.plan) : [])),
];

/** The events that the runs of a tree wait for. */
export const eventsIn = (plan: Plan): string[] =>
  plansIn(plan).flatMap(({ rounds }) => rounds.flat().flatMap((call) => (call.do === 'await' ? [call.event] : [])));

/**
 * As if the next worker looked hours after the last one: every lease is over, jobs that were taken but not claimed may be
 * replaced, and nobody is about to do what waits ask for.
 */
export async function hoursLater(harness: FaultHarness): Promise<void> {
  await harness.quiet();
  for (const statement of [
    `update lanefold._run set lease_until = now() - interval '1 ms', enqueued_at = now() - interval '1 hour'
     where status = 'running'`,
    // the locks of such jobs last as long as a lease
    `update lanefold._run set enqueue_no = enqueue_no + 1, enqueued_at = now() - interval '1 hour' where status = 'queued'`,
    `update lanefold._wait set created_at = created_at - interval '1 hour' where task is not null`,
    `update lanefold._wait set ended_at = ended_at - interval '1 hour' where task = 'cancel'`,
    `update lanefold._child_run set ended_at = ended_at - interval '1 hour' where told_at is null`,
  ])
    await harness.database.pool.query(statement);
}

/** What is left of waits and of runs that calls have started. */
export async function leftOvers(harness: FaultHarness): Promise<object[]> {
  const { rows } = await harness.database.pool.query<object>(
    `select 'wait' as what, thread_id, status, task from lanefold._wait where status = 'open' or task is not null
     union all select 'run', thread_id, status, null from lanefold.run where finished_at is null
     union all select 'child', thread_id, null, null from lanefold._child_run where ended_at is null or told_at is null`,
  );
  return rows;
}

/** Resolves once no run, wait or task of a wait is open, and every parent was told of its children. */
export async function atRest(harness: FaultHarness): Promise<void> {
  await until('nothing is left to do', async () => (await leftOvers(harness)).length === 0).catch(
    async (error: unknown) => {
      throw new Error(JSON.stringify(await leftOvers(harness)), { cause: error });
    },
  );
}

/**
 * Asserts that every run of the plan was started once and completed, with one result for each of its calls, and that the
 * logs of all are sound.
 */
export async function expectWhole(
  harness: FaultHarness,
  root: RunRef,
  plan: Plan,
  payload?: (event: string) => string,
): Promise<void> {
  expect(await harness.runs.get(root)).toMatchObject({ status: 'completed', result: answerOf(plan, payload) });
  const plans = plansIn(plan);
  const { runs } = await harness.runs.tree(root);
  const inTree = plans.length === 1 ? [root] : runs;
  expect(inTree).toHaveLength(plans.length);
  await expectOneEach(harness, root);
  let calls = 0;
  for (const run of inTree) {
    expect(await harness.runs.get(run)).toMatchObject({ status: 'completed', waits: [] });
    const ledger = await ledgerOf(harness, run.threadId, run.id);
    expect(ledger.map(({ status }) => status)).toEqual(ledger.map(() => 'ok'));
    const results = (await harness.threads.entries(run.threadId, { limit: 10_000 })).filter(
      ({ role, payload }) => role === 'tool' && payload['run_id'] === run.id,
    );
    expect(results.map(({ payload }) => payload['tool_call_id'])).toEqual(ledger.map((row) => row.tool_call_id));
    calls += ledger.length;
    await expectSound(harness, run.threadId);
  }
  expect(calls).toBe(plans.flatMap(({ rounds }) => rounds.flat()).length);
}

/** Asserts that each call of a tree has started at most one run, that its wait names, and no thread has another run. */
export async function expectOneEach(harness: FaultHarness, root: RunRef): Promise<void> {
  const { rows: children } = await harness.database.pool.query<Record<string, unknown>>(
    `select c.parent_run_id || ' ' || c.parent_round || '.' || c.parent_index as call, w.child_run_id = c.run_id as named,
       (select count(*)::int from lanefold._run r where r.thread_id = c.thread_id) as runs
     from lanefold._child_run c left join lanefold._wait w on w.thread_id = c.parent_thread_id
       and w.run_id = c.parent_run_id and w.round = c.parent_round and w.call_index = c.parent_index and w.request is not null
     where c.root_run_id = $1`,
    [root.id],
  );
  expect(children).toEqual(children.map(({ call }) => ({ call, named: true, runs: 1 })));
  expect(new Set(children.map(({ call }) => call)).size).toBe(children.length);
}
