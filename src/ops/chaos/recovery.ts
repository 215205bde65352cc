import type { Observer } from './observer.ts';
import type { Scenario } from './scenario.ts';

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
