import type { Check } from './check.ts';

/** Each run ends once. */
export const oneTerminalEvent: Check[] = [
  {
    invariant: 'I3',
    name: 'an ended run has exactly one terminal event, matching its status; other runs have none',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.status, array_agg(e.kind) as terminal from lanefold.run r left join lanefold.run_event e
        on e.thread_id = r.thread_id and e.run_id = r.id and e.kind in ('request_completed', 'request_failed', 'request_cancelled')
      group by r.thread_id, r.id, r.status, r.finished_at
      having array_remove(array_agg(e.kind), null) is distinct from
        case when r.finished_at is null then '{}' else array['request_' || r.status] end`,
  },
  {
    invariant: 'I3',
    name: 'a run whose cancellation was recorded before it ended is cancelled',
    holds: 'always',
    sql: `
      select thread_id, id as run_id, status, cancel_requested_at, finished_at from lanefold.run
      where cancel_requested_at is not null and finished_at is not null and status <> 'cancelled'`,
  },
];
