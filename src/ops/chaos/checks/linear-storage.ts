import type { Check } from './check.ts';

/** Storage grows linearly with messages: no step stores another copy of the context. */
export const linearStorage: Check[] = [
  {
    invariant: 'I10',
    name: 'an ended run keeps no state and, if it had started, no input; no state exceeds 64 KB',
    holds: 'always',
    sql: `
      select thread_id, id as run_id, pg_column_size(state) as state_bytes from lanefold._run
      where (finished_at is not null and (state is not null or (input is not null and user_seq is not null))) or pg_column_size(state) > 65536`,
  },
  {
    invariant: 'I10',
    name: 'the number of trace batches of a run is bounded by its steps',
    holds: 'always',
    // a run may lose up to 20 workers before a step
    sql: `
      select r.thread_id, r.id as run_id, r.step, count(b.*) as batches from lanefold.run r
      join lanefold._event_batch b on b.thread_id = r.thread_id and b.run_id = r.id
      group by r.thread_id, r.id, r.step having count(b.*) > 3 * r.step + 30`,
  },
];
