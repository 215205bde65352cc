import type pg from 'pg';
import { text400 } from '../workload.ts';

/**
 * Creates the thread `size-<size>` with that many messages. The lane `default` has an anchor followed by the last
 * hundred of them; the lane `scattered` has a hundred all over the thread. Writes to the tables directly: appending
 * takes minutes.
 */
export async function fillThread(pool: pg.Pool, size: number): Promise<void> {
  const thread = `size-${size}`;
  await pool.query('insert into lanefold.thread (id, rev, created_at, updated_at) values ($1, $2, now(), now())', [
    thread,
    size,
  ]);
  await pool.query(
    `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, role, is_anchor, payload, bytes)
     select e.*, pg_column_size(e.payload) from (select $1, n, now(),
       case when n = $2::bigint - 101 then 'ai_context_operation' else 'ai_message' end,
       case when n % ($2::bigint / 100) = 3 and n < $2::bigint - 101 then 'scattered' else 'default' end,
       case when n = $2::bigint - 101 then null when n % 2 = 0 then 'user' else 'assistant' end,
       n = $2::bigint - 101,
       case when n = $2::bigint - 101 then '{"operation": {"type": "replace", "reason": "manual", "result_context": {"entries": []}}}'::jsonb
            else jsonb_build_object('content', $3::text) end as payload
     from generate_series(0, $2::bigint - 1) n) e`,
    [thread, size, text400],
  );
  await pool.query(
    `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, role, payload, bytes)
     select $1, rev + n, now(), 'ai_message', 'scattered', 'user', jsonb_build_object('content', $2::text),
       pg_column_size(jsonb_build_object('content', $2::text))
     from lanefold.thread, generate_series(0, 99 - (select count(*)::int from lanefold._entry where thread_id = $1 and context_ref = 'scattered')) n
     where id = $1`,
    [thread, text400],
  );
  // the default lane ends with the hundred messages after the anchor
  await pool.query(
    'update lanefold.thread set rev = (select max(seq) + 1 from lanefold._entry where thread_id = $1) where id = $1',
    [thread],
  );
  await pool.query(
    'insert into lanefold._lane (thread_id, context_ref) select $1, context_ref from lanefold.lanes_from_log($1)',
    [thread],
  );
}
