import { taking } from './taking/take-jobs.ts';

// Statements that end many jobs of BullMQ's queue in PostgreSQL, for `GatheringPool`. Their argument is a JSON array of the
// arguments of BullMQ's own function, and each row has the number of its call.

/**
 * Ends plain jobs: without a parent, deduplication or retention of their own, which ours never have. Waits for no job that
 * another statement has locked, so that two batches, or a batch and a renewal, cannot deadlock. Does not look for other
 * active or waiting jobs to announce that the queue is drained: while a transaction keeps its snapshot, that would read the
 * index entries of all jobs that have ended since. For the same reason, `state` is compared as text: else the plan may use
 * the index of active jobs.
 */
const ended = `with c as materialized (
    select call, args, args ->> 0 as queue, args ->> 1 as id, args ->> 2 as token, (args ->> 3)::jsonb as value, (args ->> 4)::bigint as at
    from jsonb_array_elements($1::jsonb) with ordinality as a (args, call)
    where (args ->> 5)::boolean is not true and coalesce((args ->> 6)::bigint, -1) < 0 and coalesce((args ->> 7)::bigint, -1) < 0
  ), guarded as materialized (
    select pg_advisory_xact_lock_shared(hashtext('bullmq:finalization'), hashtext(q.queue)) from (select distinct queue from c) q
  ), held as materialized (
    select c.* from c
    cross join (select count(*) from guarded) g
    cross join lateral (
      select from job j where j.queue = c.queue and j.id = c.id and j.state::text = 'active' and j.lock_token = c.token
        and j.parent_id is null and j.dedup_id is null for update skip locked) j
  ), ended as (
    update job j
    set state = 'completed', return_value = h.value, finished_at_ms = h.at, lock_token = null, locked_until_ms = null,
        attempts_made = j.attempts_made + 1
    from held h where j.queue = h.queue and j.id = h.id
    returning h.call, h.args, h.queue, h.id, h.token, h.value, h.at
  ), told as materialized (
    select e.*, publish_event(e.queue, 'completed',
      jsonb_build_object('jobId', e.id, 'returnvalue', coalesce(e.value, 'null'::jsonb)::text, 'prev', 'active')) as event
    from ended e
  )`;

/** As `move_to_completed`. */
export const completeJobs = `${ended} select t.call as asked, t.at as move_to_completed, t.event from told t`;

/**
 * As `move_to_completed_fetch`: also takes the next job of the queue for each call whose arguments end with true, from the
 * floor in $2. A row without an id: nothing was taken. All calls name the same queue.
 */
export const completeAndTake = `${ended}, wanted as materialized (
    select call, queue, token, (args ->> 8)::bigint as lock_ms, (args ->> 9)::bigint as now, args ->> 10 as name
    from told where (args ->> 13)::boolean
  ), ${taking}
  select c.call as asked, g.limited, g.last_seq, t.*
  from told c left join wanted w using (call) left join target g on w.call is not null left join taken_and_told t using (call)`;
