-- Executes the plain enqueue_run calls of a batch together: each creates its thread with a first run that starts at
-- once, and is claimed if the request says so. Does what _enqueue_run does and leaves every other call to it, including
-- calls with a key not listed here.
create or replace function lanefold._plain_requests(p_calls jsonb)
returns table (place int, result json) language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_keys constant text[] := array['run_id', 'request_id', 'request_hash', 'agent', 'strategy', 'model', 'context_ref', 'input', 'options',
    'busy', 'create_thread', 'tenant_id', 'caller', 'queue_prefix', 'queue_shard', 'job_queue', 'max_context_bytes', 'traceparent', 'claim', 'job_later'];
  v_tenant constant text := coalesce(nullif(lanefold._scope(), '*'), 'default');
  v_at constant timestamptz := lanefold._now();
  v_places int[];
  v_call jsonb;
  v_claims jsonb;
  v_claim jsonb;
  v_claimed json[] := array[]::json[];  -- answers of the claims, by place
begin
  with request as materialized (
    select min(x.n)::int as place, c ->> 'thread_id' as thread_id, to_jsonb(array_agg(c #> '{args,0}')) -> 0 as p
    from jsonb_array_elements(p_calls) with ordinality as x (c, n)
    group by 2
    having count(*) = 1 and bool_and(c ->> 'function' = 'enqueue_run' and (c #> '{args,0}') - v_keys = '{}'
      and (c #> '{args,0,create_thread}')::boolean and lanefold._is_id(c ->> 'thread_id')
      and lanefold._is_id(coalesce(c #>> '{args,0,tenant_id}', v_tenant))
      and lanefold._is_id(coalesce(c #>> '{args,0,context_ref}', 'default'))
      and lanefold._is_well_formed(c #> '{args,0}')
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
    insert into lanefold._run
    select r.*
    from created c
    join owned o on o.thread_id = c.id
    cross join lateral lanefold._run_of(o.thread_id, o.tenant_id, coalesce(o.p ->> 'context_ref', 'default'), v_at, o.p) r
    returning thread_id
  )
  select array_agg(o.place order by o.place) into v_places from accepted a join owned o on o.thread_id = a.thread_id;
  if p_calls @> '[{"args": [{"claim": {}}]}]' then
    -- the same places, each with the claim of its request
    select to_jsonb(array_agg(case when x.n = any (v_places) and lanefold._takes_directly(c #> '{args,0}') then
      jsonb_build_object('thread_id', c -> 'thread_id', 'function', 'claim_run', 'args', jsonb_build_array(c #> '{args,0,run_id}', 1, c #> '{args,0,claim}'))
      else 'null' end order by x.n)) into v_claims
    from jsonb_array_elements(p_calls) with ordinality as x (c, n);
    for place, result in select c.place, c.result from lanefold._plain_claims(v_claims) c loop
      v_claimed[place] := result;
    end loop;
  end if;
  foreach place in array coalesce(v_places, '{}') loop
    v_call := p_calls -> (place - 1);
    v_claim := v_claims -> (place - 1);
    if v_claim <> 'null' and v_claimed[place] is null then
      v_claimed[place] := (select lanefold._claim_run(t.id, t, v_claim #>> '{args,0}', 1, v_claim #> '{args,2}')
        from lanefold.thread t where t.id = v_call ->> 'thread_id');
    end if;
    result := lanefold._accepted(v_call ->> 'thread_id', coalesce(v_call #>> '{args,0,tenant_id}', v_tenant), v_call #> '{args,0}', v_claimed[place]);
    return next;
  end loop;
end $$;
