-- Records that a tool call waits, or that it started a run; the caller holds the lock of the thread, and has its row and
-- the run's. p: {kind: approval|event|time|run|spawn, event?, timeout_ms? or until?: when it ends by itself, child?: {thread_id,
-- run_id, agent, earlier?: it has ended, for the run that this one repeats}, request?: of the child run, which a worker then
-- starts}. A repeat changes nothing.
-- Returns the data of its event, and deliveries: true if some of webhooks are due; null for a repeat. Raises LF014 if the
-- call cannot wait.
create or replace function lanefold._write_wait(
  p_thread_id text, t lanefold.thread, r lanefold._run, p_round int, p_call_index int, p jsonb, p_at timestamptz
) returns jsonb language plpgsql as $$
declare
  c lanefold._tool_call;
  v_kind constant text := p ->> 'kind';
  v_until constant timestamptz := coalesce((p ->> 'until')::timestamptz, p_at + (p ->> 'timeout_ms')::float8 * interval '1 ms');
  v_event jsonb;
  v_status text := 'open';
  v_ended_at timestamptz;
  v_child_ended_at timestamptz;
  v_child_cost float8;
  v_task text;
begin
  select * into c from lanefold._tool_call k
  where k.thread_id = p_thread_id and k.run_id = r.id and k.round = p_round and k.call_index = p_call_index;
  if c.call_index is null or c.result_seq is not null then
    perform lanefold._fail('LF014', format('Call %s.%s of run %s cannot wait.', p_round, p_call_index, r.id),
      'This is a bug in Lanefold; please report it.');
  end if;
  if v_kind = 'spawn' then
    v_status := 'resolved';
    v_ended_at := p_at;
  end if;
  if p -> 'child' ? 'earlier' then
    v_child_ended_at := p_at;
    v_child_cost := 0;
  end if;
  if p ? 'request' and v_child_ended_at is null then
    v_task := 'start';
  elsif v_kind in ('event', 'run') then
    v_task := 'ask';
  end if;
  insert into lanefold._wait (thread_id, tenant_id, run_id, round, call_index, kind, status, created_at, until, ended_at, event,
    child_thread_id, child_run_id, request, task, child_ended_at, child_cost)
  values (p_thread_id, t.tenant_id, r.id, p_round, p_call_index, v_kind, v_status, p_at, v_until, v_ended_at, p ->> 'event', p #>> '{child,thread_id}', p #>> '{child,run_id}', p -> 'request',
    v_task, v_child_ended_at, v_child_cost)
  on conflict (thread_id, run_id, round, call_index, kind) do nothing;
  if not found then
    return null;
  end if;
  v_event := jsonb_strip_nulls(jsonb_build_object('round', p_round, 'index', p_call_index, 'tool_call_id', c.tool_call_id,
    'tool_name', c.name, 'expires_at', v_until));
  if v_kind <> 'approval' then
    v_event := v_event || jsonb_strip_nulls(jsonb_build_object('kind', v_kind, 'event', p -> 'event', 'child', p -> 'child'));
  end if;
  perform lanefold._note_run_event(p_thread_id, r.id, p_at,
    case v_kind when 'approval' then 'approval_requested' else 'wait_started' end, v_event);
  if v_kind not in ('approval', 'spawn') and lanefold._note_event(p_thread_id, t.tenant_id, 'wait.started', r.agent,
    format('%s %s.%s', r.id, p_round, p_call_index), lanefold._run_data(r) || v_event)
  then
    return v_event || '{"deliveries": true}';
  end if;
  return v_event;
end $$;
