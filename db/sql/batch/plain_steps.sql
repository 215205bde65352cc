-- Executes the plain commit_step calls of a batch together: steps that add messages and tool calls, end rounds or
-- complete runs, where no input is queued, no cancel was requested, nothing is notable and no operation, configuration change,
-- run or parent waits for the end. Does what _commit_step does and leaves every other call to it, including calls with a key not listed
-- here. The threads it locks stay locked, also those of calls that turn out not to be plain: this transaction writes
-- to them anyway. Returns the results with their places in the batch, then what is to be added to
-- some of them, with their negative places.
create or replace function lanefold._plain_steps(p_calls jsonb)
returns table (place int, result json) language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_keys constant text[] := array['entries', 'events', 'then_events', 'state', 'iteration', 'usage', 'other_usage', 'calls', 'calls_at', 'round',
    'outcomes', 'outcomes_round', 'results_at', 'drain', 'finish', 'continue', 'max_events'];
  v_locked text[];
  v_at timestamptz;
begin
  select array_agg(k.id) into v_locked from (
    select t.id
    from (
      select c ->> 'thread_id' as thread_id
      from jsonb_array_elements(p_calls) c
      group by 1
      having count(*) = 1 and bool_and(c ->> 'function' = 'commit_step' and (c #> '{args,4}') - v_keys = '{}'
        and (not c #> '{args,4}' ? 'finish' or (c #> '{args,4,finish}') - array['status', 'reason', 'finish_reason'] = '{}'
          and c #>> '{args,4,finish,status}' = 'completed')
        -- outcomes of calls that the same step adds: their ledger rows would not be visible yet
        and not (c #> '{args,4}' ?& array['calls', 'outcomes'] and not c #> '{args,4}' ? 'outcomes_round'))
    ) c
    join lanefold.thread t on t.id = c.thread_id
    for update of t skip locked
  ) k;
  if v_locked is null then
    return;
  end if;
  v_at := lanefold._now();
  return query
  with call as materialized (
    select x.n::int as place, c ->> 'thread_id' as thread_id, c #>> '{args,0}' as run_id, (c #>> '{args,1}')::bigint as lease,
           (c #>> '{args,2}')::int as step, (c #>> '{args,3}')::int as lease_ms, c #> '{args,4}' as p,
           coalesce(jsonb_array_length(c #> '{args,4,entries}'), 0) as entries, c #> '{args,4}' ? 'finish' as ends
    from jsonb_array_elements(p_calls) with ordinality as x (c, n)
    where c ->> 'thread_id' = any (v_locked)
  ), held as materialized (
    select c.*, t.tenant_id, t.chained, t.rev, t.event_rev, r.context_ref, r.request_id, r.event_count, r.user_seq, r.created_at, r.agent,
           r.agent_version, lanefold._overrides_model(r.options) as overridden,
           coalesce(c.p -> 'events', '[]') || case when c.ends
             then lanefold._terminal_events('completed', c.p #>> '{finish,reason}', (c.p ->> 'iteration')::int, null, t.rev + c.entries - 1, null)
             else coalesce(c.p -> 'then_events', '[]') end as events
    from call c
    join lanefold.thread t on t.id = c.thread_id
    join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
    where r.lease = c.lease and r.status = 'running' and r.step = c.step and r.cancel_requested_at is null and r.queued_inputs = 0
      and (not c.ends or t.pending_op_id is null and t.pending_config is null and t.pending_branch is null and t.waiting_runs = 0 and not coalesce(r.options ? 'parent', false)
        and not t.altered and not r.notable and not lanefold._is_limit(c.p #>> '{finish,reason}'))
      and pg_column_size(c.p -> 'state') <= 65536
  ), step as materialized (
    select h.*, jsonb_array_length(h.events) as more, v_at + h.lease_ms * interval '1 ms' as until
    from held h where h.event_count + jsonb_array_length(h.events) <= lanefold._max_events(h.p) and not lanefold._is_notable(h.events)
  ), entry as (
    insert into lanefold._entry
    select (lanefold._entry_of(s.thread_id, s.tenant_id, s.chained, s.rev + x.n - 1, v_at, s.context_ref, s.run_id, s.request_id, e)).*
    from step s cross join lateral jsonb_array_elements(s.p -> 'entries') with ordinality as x (e, n)
  ), called as (
    insert into lanefold._tool_call (thread_id, tenant_id, run_id, round, call_index, tool_call_id, name, status, call_seq)
    select s.thread_id, s.tenant_id, s.run_id, (s.p ->> 'round')::int, (c ->> 'index')::smallint, c ->> 'id', c ->> 'name',
           coalesce(c ->> 'status', 'pending'), s.rev + coalesce((s.p ->> 'calls_at')::int, 0)
    from step s cross join lateral jsonb_array_elements(s.p -> 'calls') c
  ), answered as (
    update lanefold._tool_call c
    set status = o ->> 'status', attempts = (o ->> 'attempts')::smallint, duration_ms = (o ->> 'duration_ms')::int, outcome = null,
        finished_at = coalesce(c.finished_at, v_at), result_seq = s.rev + (s.p ->> 'results_at')::int + c.call_index
    from step s cross join lateral jsonb_array_elements(s.p -> 'outcomes') with ordinality as x (o, n)
    where c.thread_id = s.thread_id and c.run_id = s.run_id
      and c.round = coalesce(s.p -> 'outcomes_round', s.p -> 'round')::int and c.call_index = x.n - 1
  ), traced as (
    insert into lanefold._event_batch
    select (lanefold._event_batch_of(s.thread_id, s.tenant_id, s.event_rev, s.run_id, s.event_count + 1, v_at, s.rev, s.events)).*
    from step s where s.more > 0
  ), marked as (
    -- the only mark of a run that is plain otherwise
    insert into lanefold._run_mark (thread_id, tenant_id, run_id, kind, count, seq, created_at, agent, agent_version)
    select s.thread_id, s.tenant_id, s.run_id, 'model_overridden', 1, s.user_seq, s.created_at, s.agent, s.agent_version
    from step s where s.ends and s.overridden
  ), moved as (
    update lanefold._run r
    set step = s.step + 1, iteration = (s.p ->> 'iteration')::int, usage = coalesce(s.p -> 'usage', r.usage),
        other_usage = coalesce(s.p -> 'other_usage', r.other_usage),
        event_count = r.event_count + s.more, claims_without_progress = 0, last_commit = null,
        status = case when s.ends then 'completed' else 'running' end, active = not s.ends,
        state = case when not s.ends then s.p -> 'state' end, lease_until = case when not s.ends then s.until end,
        last_event_seq = case when s.ends then s.event_rev + s.more - 1 else r.last_event_seq end,
        termination_reason = case when s.ends then s.p #>> '{finish,reason}' else r.termination_reason end,
        finish_reason = case when s.ends then s.p #>> '{finish,finish_reason}' else r.finish_reason end,
        result_seq = case when s.ends then s.rev + s.entries - 1 else r.result_seq end,
        answered = case when s.ends then true end, notable = r.notable or s.ends and s.overridden, finished_at = case when s.ends then v_at end, sealed_at = case when s.ends then coalesce(r.sealed_at, v_at) else r.sealed_at end
    from step s where r.thread_id = s.thread_id and r.id = s.run_id
  ), advanced as (
    update lanefold.thread t
    set rev = s.rev + s.entries, event_rev = s.event_rev + s.more, updated_at = v_at,
        active_run_id = case when not s.ends then t.active_run_id end
    from step s where t.id = s.thread_id
  )
  select s.place, jsonb_strip_nulls(jsonb_build_object('step', s.step + 1,
    'status', case when s.ends then 'completed' else 'running' end, 'seq', case when s.entries > 0 then s.rev end,
    'finished', case when s.ends then true end))::json
  from step s;
  if exists (select from lanefold._webhook) then
    return query
    select -n.place, n.more::json from (
      select x.place::int, lanefold._note_run_end(t.id, t.tenant_id, c #>> '{args,0}') as more
      from jsonb_array_elements(p_calls) with ordinality as x (c, place) join lanefold.thread t on t.id = c ->> 'thread_id'
      where c #> '{args,4}' ? 'finish' and t.id = any (v_locked)) n
    where n.more <> '{}';
  end if;
end $$;
