-- Executes the plain enqueue_run calls of a batch together: each creates its thread with a first run that starts at
-- once. Does what _enqueue_run does and leaves every other call to it, including calls with a key not listed here.
create or replace function lanefold._plain_requests(p_calls jsonb)
returns table (place int, result json) language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_keys constant text[] := array['run_id', 'request_id', 'request_hash', 'agent', 'strategy', 'model', 'context_ref', 'input', 'options',
    'busy', 'create_thread', 'tenant_id', 'caller', 'queue_prefix', 'queue_shard', 'job_queue', 'max_context_bytes', 'traceparent'];
  v_tenant constant text := coalesce(nullif(lanefold._scope(), '*'), 'default');
  v_at constant timestamptz := lanefold._now();
  v_places int[];
  v_call jsonb;
begin
  with request as materialized (
    select min(x.n)::int as place, c ->> 'thread_id' as thread_id, jsonb_agg(c #> '{args,0}') -> 0 as p
    from jsonb_array_elements(p_calls) with ordinality as x (c, n)
    group by 2
    having count(*) = 1 and bool_and(c ->> 'function' = 'enqueue_run' and (c #> '{args,0}') - v_keys = '{}'
      and (c #> '{args,0,create_thread}')::boolean and lanefold._is_id(c ->> 'thread_id')
      and lanefold._is_id(coalesce(c #>> '{args,0,tenant_id}', v_tenant))
      and lanefold._is_id(coalesce(c #>> '{args,0,context_ref}', 'default'))
      and lanefold._small_json_problem(c #> '{args,0,input,refs}', 'refs') is null
      and pg_column_size(c #> '{args,0,input}') <= lanefold._max_context_bytes(c #> '{args,0}'))
  ), owned as materialized (
    select q.place, q.thread_id, coalesce(q.p ->> 'tenant_id', v_tenant) as tenant_id, q.p, q.p ->> 'run_id' as run_id
    from request q
  ), created as (
    insert into lanefold.thread as t (id, tenant_id, chained, active_run_id, created_at, updated_at)
    select o.thread_id, o.tenant_id, k.tenant_id is not null, o.run_id, v_at, v_at
    from owned o left join lanefold._tenant k on k.tenant_id = o.tenant_id and k.chained
    on conflict (id) do nothing
    returning t.id
  ), accepted as (
    insert into lanefold._run (thread_id, tenant_id, caller, id, request_id, request_hash, agent, strategy, model, context_ref, input,
      options, status, active, enqueue_no, queue_prefix, queue_shard, created_at, enqueued_at, traceparent)
    select o.thread_id, o.tenant_id, o.p ->> 'caller', o.run_id, nullif(o.p ->> 'request_id', o.run_id),
           substr(decode(o.p ->> 'request_hash', 'hex'), 1, 16), o.p ->> 'agent', o.p ->> 'strategy', o.p ->> 'model',
           coalesce(o.p ->> 'context_ref', 'default'), o.p -> 'input', o.p -> 'options', 'queued', true, 1,
           coalesce(o.p ->> 'queue_prefix', 'lf'), coalesce((o.p ->> 'queue_shard')::smallint, 0::smallint), v_at, v_at,
           o.p ->> 'traceparent'
    from created c join owned o on o.thread_id = c.id
    returning thread_id
  )
  select array_agg(o.place order by o.place) into v_places from accepted a join owned o on o.thread_id = a.thread_id;
  foreach place in array coalesce(v_places, '{}') loop
    v_call := p_calls -> (place - 1);
    result := jsonb_build_object('run_id', v_call #> '{args,0,run_id}', 'status', 'queued', 'enqueue_no', 1,
      'queue_shard', coalesce((v_call #>> '{args,0,queue_shard}')::smallint, 0::smallint), 'duplicate', false)::json;
    if v_call #> '{args,0}' ? 'job_queue' then
      perform lanefold._add_job(v_call ->> 'thread_id', v_call #>> '{args,0,run_id}', 1, v_call #> '{args,0}');
    end if;
    return next;
  end loop;
end $$;
