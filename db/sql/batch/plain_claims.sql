-- Executes the plain claim_run calls of a batch together: first claims of the first run of a thread that has no
-- entries, no queued input and no configuration. Does what _claim_run does and leaves every other call to it, including
-- calls with a key not listed here. The threads it locks stay locked, as in _plain_steps.
create or replace function lanefold._plain_claims(p_calls jsonb)
returns table (place int, result json) language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_keys constant text[] := array['worker_id', 'lease_ms', 'lease_gap', 'prompt', 'config_fingerprint', 'agent_version', 'max_claims_without_progress',
    'alone', 'strategies', 'versions', 'tools', 'max_context_bytes', 'job_token', 'job_lock_ms'];
  v_locked text[];
  v_at timestamptz;
  v_limits_version constant bigint := lanefold._limits_version();
begin
  select array_agg(k.id) into v_locked from (
    select t.id
    from (
      select c ->> 'thread_id' as thread_id
      from jsonb_array_elements(p_calls) c
      group by 1
      having count(*) = 1 and bool_and(c ->> 'function' = 'claim_run' and (c #> '{args,2}') - v_keys = '{}')
    ) c
    join lanefold.thread t on t.id = c.thread_id
    where t.rev = 0 and not t.configured and t.erased_at is null
    for update of t skip locked
  ) k;
  if v_locked is null then
    return;
  end if;
  v_at := lanefold._now();
  return query
  with call as materialized (
    select x.n::int as place, c ->> 'thread_id' as thread_id, c #>> '{args,0}' as run_id, (c #>> '{args,1}')::int as enqueue_no,
           c #> '{args,2}' as p, (c #> '{args,2}') ->> 'prompt' as prompt
    from jsonb_array_elements(p_calls) with ordinality as x (c, n)
    where c ->> 'thread_id' = any (v_locked)
  ), claim as materialized (
    select c.*, t.tenant_id, t.chained, t.event_rev, t.state as thread_state, r, r.request_id, r.context_ref,
           r.agent, r.event_count, r.input,
           (c.prompt is not null)::int::bigint as user_seq, r.lease + coalesce((c.p ->> 'lease_gap')::int, 1) as new_lease,
           v_at + (c.p ->> 'lease_ms')::int * interval '1 ms' as until,
           lanefold._claim_events(c.p -> 'config_fingerprint', '[]', 1 + (c.prompt is not null)::int) as events
    from call c
    join lanefold.thread t on t.id = c.thread_id
    join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
    where r.enqueue_no = c.enqueue_no and r.status = 'queued' and r.started_at is null and r.start_at is null and r.expires_at is null
      and r.claims_without_progress = 0 and (c.p ->> 'max_claims_without_progress')::int > 0 and r.queued_inputs = 0
      and c.p -> 'strategies' ? coalesce(r.options #>> '{selection,strategy}', r.strategy)
      and not coalesce(r.options, '{}') ?| array['compaction', 'prompt', 'version', 'pinned', 'tools', 'allowed_tools']
      and lanefold._input_bytes(r.input) <= lanefold._max_context_bytes(c.p)
  ), entry as (
    insert into lanefold._entry
    select (lanefold._entry_of(c.thread_id, c.tenant_id, c.chained, e.seq, v_at, c.context_ref, e.run_id, e.request_id, e.draft)).*
    from claim c cross join lateral (
      select 0 as seq, null as run_id, null as request_id, lanefold._agent_prompt_draft(c.agent, c.p) as draft where c.prompt is not null
      union all
      select c.user_seq, c.run_id, c.request_id, lanefold._question_draft(c.input)) e
  ), opened as (
    insert into lanefold._lane (thread_id, tenant_id, context_ref) select c.thread_id, c.tenant_id, c.context_ref from claim c
    on conflict (thread_id, context_ref) do nothing
  ), traced as (
    insert into lanefold._event_batch
    select (lanefold._event_batch_of(c.thread_id, c.tenant_id, c.event_rev, c.run_id, c.event_count + 1, v_at, c.user_seq, c.events)).* from claim c
  ), taken as (
    update lanefold._run r
    set status = 'running', lease = c.new_lease, worker_id = c.p ->> 'worker_id', lease_until = c.until,
        lease_ms = (c.p ->> 'lease_ms')::int, started_at = v_at, user_seq = c.user_seq,
        first_event_seq = coalesce(r.first_event_seq, c.event_rev), input = null,
        agent_version = coalesce(c.p ->> 'agent_version', r.agent_version), limited_by = null, agent_unknown_since = null,
        iteration = greatest(r.iteration, 1), event_count = r.event_count + 2, claims_without_progress = 1
    from claim c where r.thread_id = c.thread_id and r.id = c.run_id
  ), begun as (
    update lanefold.thread t set rev = c.user_seq + 1, event_rev = c.event_rev + 2, updated_at = v_at
    from claim c where t.id = c.thread_id
  )
  select c.place, lanefold._claim_answer(c.r, true, c.new_lease, c.user_seq, c.thread_state, null,
    (select json_agg(m.message) from (
      select json_build_object('seq', 0, 'role', 'system', 'content', c.prompt) as message where c.prompt is not null
      union all
      select json_build_object('seq', c.user_seq, 'role', 'user', 'content', c.input -> 'content')) m),
    null, null, 0, greatest(extract(epoch from v_at - (c.r).ready_at) * 1000, 0)::bigint, v_limits_version)
  from claim c;
end $$;
