-- Each run with what it adds to `_activity`: a row for its model, and rows that move the tokens of other models to them.
create or replace view lanefold._activity_run as
select r.thread_id, r.id, r.tenant_id, r.created_at, r.finished_at, r.active, r.trace_dropped_at, r.agent, coalesce(r.agent_version, '') as agent_version,
       case when k.sign = 1 then o.key else r.model end as model,
       k.part as runs, case when r.status = 'failed' then k.part else 0 end as failed,
       case when r.status = 'completed' and not r.answered then k.part else 0 end as unanswered,
       case when r.started_at is not null then k.part else 0 end as started,
       case when k.part = 1 and r.started_at > greatest(r.created_at, r.start_at)
         then (extract(epoch from r.started_at - greatest(r.created_at, r.start_at)) * 1000)::bigint else 0 end as waited_ms,
       k.sign * coalesce((o.value ->> 'calls')::bigint, 0) as calls, k.sign * coalesce((o.value ->> 'input_tokens')::bigint, 0) as input_tokens,
       k.sign * coalesce((o.value ->> 'output_tokens')::bigint, 0) as output_tokens,
       k.sign * coalesce((o.value ->> 'cache_read_tokens')::bigint, 0) as cached_tokens,
       k.sign * coalesce((o.value ->> 'cache_write_tokens')::bigint, 0) as written_tokens
from lanefold._run r
-- no union of table functions, which nodes of a distributed database do not take
cross join (values (1, 1), (0, 1), (0, -1)) as k (part, sign)
cross join lateral jsonb_each(case when k.part = 0 then r.other_usage
  else jsonb_build_object(r.model, coalesce(r.usage, '{}') || jsonb_build_object('calls', r.iteration)) end) as o;

-- Each run with what it adds to `_activity_fact`.
create or replace view lanefold._activity_run_fact as
select r.thread_id, r.id, r.tenant_id, r.created_at, r.finished_at, r.active, r.trace_dropped_at, r.agent, coalesce(r.agent_version, '') as agent_version,
       'error' as fact, coalesce(r.error ->> 'type', 'unknown') as value
from lanefold._run r where r.status = 'failed'
union all
select r.thread_id, r.id, r.tenant_id, r.created_at, r.finished_at, r.active, r.trace_dropped_at, r.agent, coalesce(r.agent_version, ''),
       -- up to the next power of the square root of two: 1, 2, 3, 4, 6, 8, 11, 16 …
       'wait', round(power(2, ceil(2 * ln(greatest(extract(epoch from r.started_at - greatest(r.created_at, r.start_at)) * 1000, 1)::float8) / ln(2::float8)) / 2))::bigint::text
from lanefold._run r where r.started_at is not null
union all
select r.thread_id, r.id, r.tenant_id, r.created_at, r.finished_at, r.active, r.trace_dropped_at, r.agent, coalesce(r.agent_version, ''),
       'mark', m.kind
from lanefold._run r join lanefold._run_mark m on m.thread_id = r.thread_id and m.run_id = r.id where r.notable;

-- Ended runs by the hour in which they were accepted.
create or replace view lanefold.activity as
select a.at, a.agent, a.agent_version, a.model, a.runs, a.failed, a.unanswered, a.started, a.waited_ms, a.calls, a.input_tokens,
       a.output_tokens, a.cached_tokens, a.written_tokens, a.tenant_id
from lanefold._activity a where a.minutes = 60;

-- How many of these runs have a mark, failed with an error, or waited about as long.
create or replace view lanefold.activity_fact as
select f.at, f.agent, f.agent_version, f.fact, f.value, f.runs, f.last_at, f.tenant_id from lanefold._activity_fact f where f.minutes = 60;
