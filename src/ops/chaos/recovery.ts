import type { Observer, Scenario } from './schedule.ts';
import { delay } from '../../base/common/timer.ts';

/** One row per scenario and run it hit, as a parameter of the queries below. */
const hitsOf = (scenarios: readonly Scenario[]): string =>
  JSON.stringify(
    scenarios.flatMap(({ no, at, hit }) =>
      hit.map(({ threadId, id }) => ({ no, at, thread_id: threadId, run_id: id })),
    ),
  );

/**
 * The time from each fault until each run it hit made progress: it committed its next step, or ended. Keyed by scenario
 * number.
 */
export async function recoveryTimes(
  observer: Observer,
  scenarios: readonly Scenario[],
): Promise<Map<number, number[]>> {
  const rows = await observer.query<{ no: number; ms: number }>(
    `select h.no, extract(epoch from min(b.at))::float8 * 1000 - h.at as ms
     from jsonb_to_recordset($1) as h (no int, at float8, thread_id text, run_id text)
     join lanefold._event_batch b on b.thread_id = h.thread_id and b.run_id = h.run_id and b.at > to_timestamp(h.at / 1000)
     group by h.no, h.thread_id, h.run_id, h.at`,
    [hitsOf(scenarios)],
  );
  const times = new Map<number, number[]>();
  for (const { no, ms } of rows) times.set(no, [...(times.get(no) ?? []), ms]);
  return times;
}

/** The scenarios with at least one run that has made no progress since the fault. */
export async function notRecovered(observer: Observer, scenarios: readonly Scenario[]): Promise<Scenario[]> {
  const rows = await observer.query<{ no: number }>(
    `select distinct h.no from jsonb_to_recordset($1) as h (no int, at float8, thread_id text, run_id text)
     where not exists (select from lanefold._event_batch b
       where b.thread_id = h.thread_id and b.run_id = h.run_id and b.at > to_timestamp(h.at / 1000))`,
    [hitsOf(scenarios)],
  );
  const open = new Set(rows.map(({ no }) => no));
  return scenarios.filter(({ no }) => open.has(no));
}

/** What workers have yet to do: runs, among them those that calls started, tasks of waits, accounts of limits, slots, and events. */
const leftSql = `
  select (select count(*)::int from lanefold.run where finished_at is null)
    + (select count(*)::int from lanefold._wait where status = 'open' or task is not null)
    + (select count(*)::int from lanefold._child_run where ended_at is null or told_at is null)
    + (select count(*)::int from lanefold._limit_account)
    + (select count(*)::int from lanefold.schedule_slot where status in ('due', 'firing'))
    + (select count(*)::int from lanefold.webhook_delivery where status = 'pending') as left`;

/**
 * Waits until nothing is left to do; after `patienceMs` without it, the checks find what is.
 *
 * @param hurry makes due what is due later
 */
export async function settle(observer: Observer, patienceMs: number, hurry: () => Promise<void>): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const [row] = await observer.query<{ left: number }>(leftSql);
    if (row!.left === 0) return;
    await hurry();
    await delay(200);
  }
}
