import type { Scenario } from './inject.ts';
import type { Watch } from './watch.ts';

/** Milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
  max: number;
}

export const spreadOf = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
};

/** For each run a fault hit: how long after the blow it moved on, by its next committed step or its end. */
export async function recoveryTimes(watch: Watch, scenarios: readonly Scenario[]): Promise<Map<number, number[]>> {
  const hits = scenarios.flatMap(({ no, at, hit }) =>
    hit.map(({ threadId, id }) => ({ no, at, thread_id: threadId, run_id: id })),
  );
  const rows = await watch.query<{ no: number; ms: number }>(
    `select h.no, extract(epoch from min(b.at))::float8 * 1000 - h.at as ms
     from jsonb_to_recordset($1) as h (no int, at float8, thread_id text, run_id text)
     join lanefold._event_batch b on b.thread_id = h.thread_id and b.run_id = h.run_id and b.at > to_timestamp(h.at / 1000)
     group by h.no, h.thread_id, h.run_id, h.at`,
    [JSON.stringify(hits)],
  );
  const times = new Map<number, number[]>();
  for (const { no, ms } of rows) times.set(no, [...(times.get(no) ?? []), ms]);
  return times;
}

/** Those of the scenarios with a hit run that has not moved on yet. */
export async function notRecovered(watch: Watch, scenarios: readonly Scenario[]): Promise<Scenario[]> {
  const hits = scenarios.flatMap(({ no, at, hit }) =>
    hit.map(({ threadId, id }) => ({ no, at, thread_id: threadId, run_id: id })),
  );
  const rows = await watch.query<{ no: number }>(
    `select distinct h.no from jsonb_to_recordset($1) as h (no int, at float8, thread_id text, run_id text)
     where not exists (select from lanefold._event_batch b
       where b.thread_id = h.thread_id and b.run_id = h.run_id and b.at > to_timestamp(h.at / 1000))`,
    [JSON.stringify(hits)],
  );
  const open = new Set(rows.map(({ no }) => no));
  return scenarios.filter(({ no }) => open.has(no));
}
