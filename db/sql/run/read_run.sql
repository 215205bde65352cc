-- A run as `runs.get` and `wait` return it, the keys in camel case; null where there is none. One value, because a client
-- spends more on the description of thirty columns than on their content.
create or replace function lanefold.read_run(p_thread_id text, p_run_id text)
returns json language plpgsql stable as $$
begin
  return (
    select json_build_object('id', r.id, 'threadId', r.thread_id, 'requestId', r.request_id, 'agent', r.agent, 'strategy', r.strategy,
      'model', r.model, 'contextRef', r.context_ref, 'status', r.status, 'terminationReason', r.termination_reason,
      'awaiting', case when r.status <> 'suspended' then '[]' else (
        select json_agg(json_build_object('round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
          'arguments', c.arguments) order by c.round, c.call_index)
        from lanefold.run_tool_call c
        where c.thread_id = p_thread_id and c.run_id = p_run_id and c.status = 'awaiting_approval') end,
      'suspendedUntil', r.suspended_until, 'agentUnknownSince', r.agent_unknown_since, 'unknownStrategy', r.unknown_strategy,
      'iteration', r.iteration, 'step', r.step, 'usage', r.usage, 'result', r.result, 'error', r.error,
      'priority', coalesce((r.options ->> 'priority')::int, 0), 'startAt', r.start_at, 'expiresAt', r.expires_at,
      'resumedFrom', r.options ->> 'resumed_from', 'retryOf', r.options ->> 'retry_of', 'createdAt', r.created_at,
      'startedAt', r.started_at, 'finishedAt', r.finished_at, 'durationMs', r.duration_ms)
    from lanefold.run r where r.thread_id = p_thread_id and r.id = p_run_id);
end $$;
