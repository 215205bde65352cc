// Statements that read BullMQ's queue in PostgreSQL from a floor ($2): see `Floor`. What they find, BullMQ's own functions
// would find too; what they do not find is left to those.

/**
 * Takes the next job for each row of `wanted (call, queue, token, lock_ms, now, name)`, as `move_to_active`. All rows name
 * the same queue. It takes none if the queue is paused or has a limit, which only BullMQ's function can observe. The jobs
 * at the front come first: their numbers are negative.
 */
export const taking = `target as materialized (
    select q.queue, q.calls, pg_sequence_last_value('job_seq') as last_seq, exists (
        select from meta m where m.queue = q.queue and (m.field in ('concurrency', 'max') or m.field = 'paused' and m.value = '1')
      ) as limited
    from (select queue, count(*) as calls from wanted group by queue) q
  ), front as materialized (
    select j.* from target g cross join lateral (
      select j.id, j.seq from job j where j.queue = g.queue and j.state = 'waiting' and j.priority = 0 and j.seq < -$2::bigint
      order by j.seq limit g.calls for update skip locked) j
    where not g.limited
  ), back as materialized (
    select j.* from target g cross join lateral (
      select j.id, j.seq from job j where j.queue = g.queue and j.state = 'waiting' and j.priority = 0 and j.seq > $2::bigint
      order by j.seq limit g.calls - (select count(*) from front) for update skip locked) j
    where not g.limited
  ), matched as materialized (
    select w.*, f.id
    from (select *, row_number() over (order by call) as turn from wanted) w
    join (select id, row_number() over (order by seq) as turn from (select * from front union all select * from back) f) f using (turn)
  ), taken as (
    update job j
    set state = 'active', lock_token = m.token, locked_until_ms = m.now + m.lock_ms, processed_at_ms = m.now,
        processed_by = m.name, attempts_started = j.attempts_started + 1
    from matched m where j.queue = m.queue and j.id = m.id
    returning m.call, j.*
  ), taken_and_told as (
    select t.*, publish_event(t.queue, 'active', jsonb_build_object('jobId', t.id, 'prev', 'waiting')) as event from taken t
  )`;

/** As `move_to_active` with $1 as a JSON array of its arguments; one row for each. Without an id: nothing was taken. */
export const takeJobs = `/* take_jobs */ with wanted as materialized (
    select call, args ->> 0 as queue, args ->> 1 as token, (args ->> 2)::bigint as lock_ms, (args ->> 3)::bigint as now, args ->> 4 as name
    from jsonb_array_elements($1::jsonb) with ordinality as a (args, call)
  ), ${taking}
  select w.call as asked, g.limited, g.last_seq, t.* from wanted w cross join target g left join taken_and_told t using (call)`;

/** As BullMQ's question whether a job waits. */
export const hasWaiting = `/* has_waiting */ select (
    exists (select from job where queue = $1 and state = 'waiting' and priority = 0 and seq > $2::bigint)
    or exists (select from job where queue = $1 and state = 'waiting' and priority = 0 and seq < -$2::bigint)
  ) and not exists (select from meta where queue = $1 and field = 'paused' and value = '1') as present`;

const nextDelayed = (since: string) =>
  `(select min(process_at_ms) from job where queue = $1 and state = 'delayed' and process_at_ms > ${since}::bigint) as next_delay`;

/** As `next_delay`, for jobs that are due after $2. */
export const nextDelay = `/* next_delay */ select ${nextDelayed('$2')}`;

/** As `next_signal`, for jobs that are due after $4. */
export const nextSignal = `/* next_signal */ select rate_limit_effective($1, $2, $3) as rate_limit_ttl, ${nextDelayed('$4')}`;
