-- Ends a moved run as `failed`, with what workers lack as its error: for p_limit_ms no worker could execute it, as unattended_ms
-- counts. Returns the answer of finish_run, or null if that is not the case or a writer holds the thread; the next sweep tries
-- again.
create or replace function lanefold.fail_unknown_agent(p_thread_id text, p_run_id text, p_limit_ms float8)
returns jsonb language plpgsql as $$
declare
  r record;
  v_lacking text;
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return null;
  end if;
  select k.agent, k.agent_unknown_since, k.queue_prefix, k.unknown_tools, lanefold._wanted_version(k.options) as version,
    coalesce(k.options #>> '{selection,strategy}', k.strategy) as strategy into r
  from lanefold._run k
  where k.thread_id = p_thread_id and k.id = p_run_id and k.finished_at is null and k.agent_unknown_since is not null;
  if not found or lanefold.unattended_ms(r.queue_prefix, r.agent, r.version, r.strategy, r.unknown_tools, r.agent_unknown_since)
      < p_limit_ms is not false then
    return null;
  end if;
  v_lacking := lanefold.unattended_reason(r.queue_prefix, r.agent, r.version, r.strategy, r.unknown_tools);
  return lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'error', 'error',
    jsonb_build_object('type', v_lacking, 'message', case v_lacking
      when 'unknown_agent' then format('No worker knows the agent %s.', r.agent)
      when 'unknown_version' then format('No worker has version %s of the agent %s.', r.version, r.agent)
      when 'unknown_strategy' then format('No worker that knows the agent %s knows the strategy %s.', r.agent, r.strategy)
      else format('No worker that knows the agent %s has %s that the run needs: %s.', r.agent,
        case when cardinality(r.unknown_tools) = 1 then 'the tool' else 'all tools' end,
        array_to_string(lanefold._tool_names(r.unknown_tools), ', ')) end)));
end $$;
