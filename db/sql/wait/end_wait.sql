-- Ends a wait of a tool call: the first one to end it counts. p: {status: resolved|expired|overridden, outcome: {status:
-- ok|error, content, refs?: of the result's entry}: of the call, by?, queue_prefix?: of the queue the caller adds the job to}. A child run that is
-- still unfinished after the wait expired or was overridden is to be cancelled.
-- Returns {ended: whether this call ended it, wait: its status, status: of the run, job?: as _resume_if_ready returns it}. Raises
-- LF011 no such run, LF020 no such wait.
create or replace function lanefold.end_wait(p_thread_id text, p_run_id text, p_round int, p_call_index int, p jsonb)
returns jsonb language plpgsql as $$
begin
  perform lanefold._lock_thread(p_thread_id);
  return lanefold._end_wait(p_thread_id, p_run_id, p_round, p_call_index, p);
end $$;

-- end_wait, for a caller that holds the lock of the thread.
create or replace function lanefold._end_wait(p_thread_id text, p_run_id text, p_round int, p_call_index int, p jsonb)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  w lanefold._wait;
  c lanefold._tool_call;
  v_at timestamptz;
  v_task text;
  v_outcome constant jsonb := p -> 'outcome';
begin
  v_at := lanefold._now();
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    perform lanefold._fail_no_run(p_thread_id, p_run_id);
  end if;
  select * into w from lanefold._wait k
  where k.thread_id = p_thread_id and k.run_id = p_run_id and k.round = p_round and k.call_index = p_call_index and k.kind not in ('approval', 'spawn');
  if not found then
    perform lanefold._fail('LF020', format('Call %s.%s of run %s does not wait for an event, a time or a run.', p_round, p_call_index, p_run_id),
      'Read the run: waits lists its waits by round and index. Approvals are decided, not resolved.');
  elsif w.status <> 'open' then
    return jsonb_build_object('ended', false, 'wait', w.status, 'status', r.status);
  end if;
  if p ->> 'status' <> 'resolved' and w.request is not null and w.child_ended_at is null then
    v_task := 'cancel';
  end if;
  update lanefold._wait set status = p ->> 'status', ended_at = v_at, ended_by = p ->> 'by', task = v_task
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index and kind = w.kind;
  update lanefold._tool_call
  set status = v_outcome ->> 'status', outcome = v_outcome - 'status' || '{"waited": true}', finished_at = v_at
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index returning * into c;
  perform lanefold._note_run_event(p_thread_id, p_run_id, v_at, 'wait_ended', jsonb_strip_nulls(jsonb_build_object('round', p_round,
    'index', p_call_index, 'tool_call_id', c.tool_call_id, 'tool_name', c.name, 'kind', w.kind, 'status', p -> 'status', 'by', p -> 'by')));
  return jsonb_build_object('ended', true, 'wait', p -> 'status') || lanefold._resume_if_ready(p_thread_id, p_run_id, p ->> 'queue_prefix', v_at);
end $$;
