-- Suspends a run whose tool calls wait; called by its lease holder. The calls p.approvals of p.round become
-- `awaiting_approval`; calls that wait for something else were recorded before (record_tool_call). The lease ends and no
-- worker holds the run. The outcomes of the other calls of the round are already in the ledger. If nothing is left to
-- wait for, the run is queued again at once. Steps count as in commit_step, so a retry after a lost acknowledgement
-- suspends only once. p: {round, approvals: [call_index], timeout_ms: of the approvals}.
-- Returns {step, status, job?: as _resume_if_ready returns it, deliveries?: of webhooks are due}. If the run is to be cancelled, writes
-- nothing and returns {step, cancel_requested: true}. Raises LF012 for a worker that no longer holds the run, LF013 for a step too high, LF014 if
-- one of the calls cannot wait.
create or replace function lanefold.suspend_run(p_thread_id text, p_run_id text, p_lease bigint, p_step int, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
  v_index int;
  v_asked jsonb;
  v_wait jsonb;
  v_call jsonb;
  v_calls jsonb := '[]'::jsonb;
  v_due boolean := false;
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
  v_asked := jsonb_build_object('requested_at', v_at);
  v_wait := jsonb_build_object('kind', 'approval', 'timeout_ms', p -> 'timeout_ms');
  for v_index in select n::int from jsonb_array_elements(p -> 'approvals') n loop
    v_call := lanefold._write_wait(p_thread_id, t, r, (p ->> 'round')::int, v_index, v_wait, v_at);
    if v_call is not null then
      v_calls := v_calls || jsonb_build_array(v_call);
      t.event_rev := t.event_rev + 1;
      r.event_count := r.event_count + 1;
    end if;
    update lanefold._tool_call c set status = 'awaiting_approval', approval = v_asked
    where c.thread_id = p_thread_id and c.run_id = p_run_id and c.round = (p ->> 'round')::int and c.call_index = v_index;
  end loop;
  update lanefold._run
  set status = 'suspended', step = p_step + 1, suspended_until = 'infinity', lease_until = null, worker_id = null,
      claims_without_progress = 0, last_commit = null
  where thread_id = p_thread_id and id = p_run_id;
  if v_calls <> '[]' then
    v_due := lanefold._note_event(p_thread_id, t.tenant_id, 'approval.requested', r.agent, p_run_id || ' ' || p_step,
      lanefold._run_data(r) || jsonb_build_object('status', 'suspended', 'expires_at', v_calls #> '{0,expires_at}', 'calls', v_calls));
  end if;
  return jsonb_build_object('step', p_step + 1) || case when v_due then '{"deliveries": true}' else '{}' end::jsonb
    || lanefold._resume_if_ready(p_thread_id, p_run_id, r.queue_prefix, v_at);
end $$;
