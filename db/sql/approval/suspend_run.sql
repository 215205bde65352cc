-- Suspends a run until humans decide; called by its lease holder. The calls p.awaiting of p.round become
-- `awaiting_approval`, the lease ends and no worker holds the run. The outcomes of the other calls of the round are
-- already in the ledger. Steps count as in commit_step, so a retry after a lost acknowledgement suspends only once. p:
-- {round, awaiting: [call_index], timeout_ms}.
-- Returns {step, status}. If the run is to be cancelled, writes nothing and returns {step, cancel_requested: true}.
-- Raises LF012 for a worker that no longer holds the run, LF013 for a step too high, LF014 if none of the calls can
-- wait.
create or replace function lanefold.suspend_run(p_thread_id text, p_run_id text, p_lease bigint, p_step int, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
  v_until timestamptz;
  v_events jsonb;
  v_asked jsonb;
  v_awaiting constant int[] := array(select n::int from jsonb_array_elements(p -> 'awaiting') n);
begin
  t := lanefold._lock_thread(p_thread_id);
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  v_at := lanefold._now();
  if r.lease is distinct from p_lease or (r.status <> 'running' and p_step >= r.step) then
    perform lanefold._fail_not_held(p_run_id, p_lease);
  elsif p_step < r.step then
    return jsonb_build_object('step', p_step + 1, 'status', r.status, 'duplicate', true);
  elsif p_step > r.step then
    perform lanefold._fail('LF013', format('Run %s is at step %s, not %s.', p_run_id, r.step, p_step),
      'Nothing was written. A failover lost the last steps; drop the run.');
  elsif r.cancel_requested_at is not null then
    return jsonb_build_object('step', p_step, 'status', r.status, 'cancel_requested', true);
  end if;
  v_until := v_at + (p ->> 'timeout_ms')::float8 * interval '1 ms';
  v_asked := jsonb_build_object('requested_at', v_at);

  with asked as (
    update lanefold._tool_call c
    set status = 'awaiting_approval', approval = v_asked
    where c.thread_id = p_thread_id and c.run_id = p_run_id and c.round = (p ->> 'round')::int and c.call_index = any (v_awaiting)
      and c.status = 'pending' and c.outcome is null
    returning c.round, c.call_index, c.tool_call_id, c.name
  )
  select jsonb_agg(jsonb_build_object('k', 'approval_requested', 'i', r.iteration, 'd', jsonb_build_object('round', round,
    'index', call_index, 'tool_call_id', tool_call_id, 'tool_name', name, 'expires_at', v_until)) order by call_index)
  into v_events from asked;
  if v_events is null then
    perform lanefold._fail('LF014', format('No call of run %s can wait for approval.', p_run_id),
      'This is a bug in Lanefold; please report it.');
  end if;
  insert into lanefold._event_batch (thread_id, tenant_id, event_seq, run_id, seq, at, entry_seq, events)
  values (p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at, t.rev, v_events::json);
  update lanefold._run
  set status = 'suspended', step = p_step + 1, suspended_until = v_until, lease_until = null, worker_id = null,
      claims_without_progress = 0, event_count = event_count + jsonb_array_length(v_events), last_commit = null
  where thread_id = p_thread_id and id = p_run_id;
  update lanefold.thread set event_rev = event_rev + jsonb_array_length(v_events), updated_at = v_at where id = p_thread_id;
  perform lanefold._note_event(p_thread_id, t.tenant_id, 'approval.requested', r.agent, p_run_id || ' ' || p_step,
    lanefold._run_data(r) || jsonb_build_object('status', 'suspended', 'expires_at', v_until, 'calls', jsonb_path_query_array(v_events, '$[*].d')));
  return jsonb_build_object('step', p_step + 1, 'status', 'suspended');
end $$;
