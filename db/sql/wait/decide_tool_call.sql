-- Records a human decision on a tool call that waits for approval. The first decision counts: repeating it returns the
-- first answer, the opposite decision is rejected. The run continues once
-- none of its calls waits.
-- p: {decision: approved|denied, by?, reason?, queue_prefix?: of the queue the caller adds the job to,
-- wait?: status of its wait, default resolved}.
-- Returns {call: such as 1.0, decision, by, reason, decided_at, duplicate, status: of the run, job?: {thread_id, run_id, agent,
-- enqueue_no, queue_shard, queue_prefix}}. Raises LF011, LF014, LF020 no such call, LF021 decided otherwise, LF022 not
-- awaiting approval.
create or replace function lanefold.decide_tool_call(p_thread_id text, p_run_id text, p_round int, p_call_index int, p jsonb)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  c lanefold._tool_call;
  v_at timestamptz;
  v_call constant text := p_round || '.' || p_call_index;
  v_decision constant text := p ->> 'decision';
  v_word jsonb;
  v_status text := 'pending';
  v_outcome jsonb;
  v_finished_at timestamptz;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    perform lanefold._fail_no_run(p_thread_id, p_run_id);
  elsif coalesce(v_decision, '') not in ('approved', 'denied') then
    perform lanefold._fail('LF014', 'The decision is neither approved nor denied.', 'Pass approved or denied.');
  end if;
  select * into c from lanefold._tool_call
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index;
  if not found then
    perform lanefold._fail('LF020', format('Run %s has no tool call %s.', p_run_id, v_call),
      'Read the run: approvals lists the waiting calls.');
  elsif c.approval ->> 'decision' = v_decision then
    return (c.approval - 'requested_at') || jsonb_build_object('call', v_call, 'duplicate', true, 'status', r.status);
  elsif c.approval ? 'decision' then
    perform lanefold._fail('LF021',
      format('Tool call %s of run %s was already %s.', v_call, p_run_id, c.approval ->> 'decision'),
      'The first decision counts.');
  elsif c.status <> 'awaiting_approval' then
    perform lanefold._fail('LF022',
      format('Tool call %s of run %s is not waiting for approval: its status is %s.', v_call, p_run_id, c.status),
      'Read the run: approvals lists the waiting calls.');
  end if;

  v_word := jsonb_build_object('decision', v_decision, 'by', p ->> 'by', 'reason', p ->> 'reason', 'decided_at', v_at);
  if v_decision = 'denied' then
    v_status := 'denied';
    v_finished_at := v_at;
    v_outcome := jsonb_build_object('content', lanefold._error_result('denied',
      case when p ->> 'reason' is null then 'The call was denied.' else 'The call was denied: ' || (p ->> 'reason') end));
  end if;
  update lanefold._tool_call
  set approval = approval || v_word, status = v_status, outcome = v_outcome, finished_at = v_finished_at
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index;
  perform lanefold._note_run_event(p_thread_id, p_run_id, v_at, 'approval_decided', jsonb_strip_nulls(v_word - 'decided_at')
    || jsonb_build_object('round', p_round, 'index', p_call_index, 'tool_call_id', c.tool_call_id, 'tool_name', c.name));
  update lanefold._wait set status = coalesce(p ->> 'wait', 'resolved'), ended_at = v_at, ended_by = p ->> 'by'
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index and kind = 'approval';
  return v_word || jsonb_build_object('call', v_call, 'duplicate', false) || lanefold._resume_if_ready(p_thread_id, p_run_id, p ->> 'queue_prefix', v_at);
end $$;
