-- A run as `runs.get` and `wait` return it; null if it does not exist. Returns one value,
-- because a client spends more time on the description of thirty columns than on their content. Reads the tables
-- rather than the view, because Citus nodes do not cache the plan of the view's join.
create or replace function lanefold.read_run(p_thread_id text, p_run_id text)
returns json language plpgsql stable as $$
declare
  r lanefold._run;
  v_approvals json := '[]'::json;
  v_waits json := '[]'::json;
begin
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    return null;
  end if;
  if r.result is null and r.result_seq is not null then
    select payload -> 'content' into r.result from lanefold._entry where thread_id = p_thread_id and seq = r.result_seq;
  end if;
  if r.status = 'suspended' then
    select coalesce(json_agg(json_build_object('call', c.round || '.' || c.call_index, 'round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
      'arguments', c.arguments) order by c.round, c.call_index), '[]') into v_approvals
    from lanefold.run_tool_call c
    where c.thread_id = p_thread_id and c.run_id = p_run_id and c.status = 'awaiting_approval';
    select coalesce(json_agg(json_build_object('call', w.round || '.' || w.call_index, 'round', w.round, 'index', w.call_index, 'name', c.name, 'kind', w.kind, 'event', w.event,
      'run', case when w.child_run_id is not null then json_build_object('thread_id', w.child_thread_id, 'id', w.child_run_id) end,
      'since', w.created_at, 'until', w.until) order by w.round, w.call_index), '[]') into v_waits
    from lanefold._wait w
    join lanefold._tool_call c on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
    where w.thread_id = p_thread_id and w.run_id = p_run_id and w.status = 'open';
  end if;
  return json_build_object('id', r.id, 'thread_id', r.thread_id, 'request_id', coalesce(r.request_id, r.id), 'agent', r.agent, 'agent_version', r.agent_version,
    'strategy', r.strategy, 'model', r.model, 'context_ref', r.context_ref, 'status', r.status,
    'termination_reason', r.termination_reason, 'finish_reason', r.finish_reason, 'answered', r.answered, 'approvals', v_approvals, 'waits', v_waits,
    'suspended_until', nullif(r.suspended_until, 'infinity'),
    'agent_unknown_since', case when r.finished_at is null then r.agent_unknown_since end,
    'unknown_strategy', case when r.finished_at is null and r.agent_unknown_since is not null then r.unknown_strategy end,
    'unknown_version', case when r.finished_at is null and r.agent_unknown_since is not null then r.unknown_version end,
    'unknown_tools', case when r.finished_at is null and r.agent_unknown_since is not null then lanefold._tool_names(r.unknown_tools) end,
    'iteration', r.iteration, 'step', r.step, 'usage', r.usage, 'other_usage', r.other_usage, 'result', r.result, 'error', r.error,
    'priority', coalesce((r.options ->> 'priority')::int, 0), 'start_at', r.start_at, 'expires_at', r.expires_at,
    'limited_by', case when r.status = 'queued' then r.limited_by end,
    'resumed_from', r.options ->> 'resumed_from', 'retry_of', r.options ->> 'retry_of',
    'parent', case when r.options ? 'parent' then json_build_object('thread_id', r.options #>> '{parent,thread_id}', 'id', r.options #>> '{parent,run_id}') end, 'created_at', r.created_at,
    'started_at', r.started_at, 'finished_at', r.finished_at,
    'duration_ms', (extract(epoch from r.finished_at - r.started_at) * 1000)::bigint);
end $$;
