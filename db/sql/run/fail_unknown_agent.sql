-- Ends a run as `failed`, `unknown_agent`, `unknown_version` or `unknown_strategy`: for p_limit_ms no worker that has all was
-- seen.
-- Returns the answer of finish_run, or null if that is not the case or a writer holds the thread; the next sweep tries
-- again.
create or replace function lanefold.fail_unknown_agent(p_thread_id text, p_run_id text, p_limit_ms float8)
returns jsonb language plpgsql as $$
declare
  r record;
  v_at timestamptz;
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return null;
  end if;
  v_at := lanefold._now();
  select agent, unknown_version, unknown_strategy into r from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and finished_at is null
    and agent_unknown_since < v_at - p_limit_ms * interval '1 ms';
  if not found then
    return null;
  end if;
  return lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'error', 'error',
    case when r.unknown_strategy is null and r.unknown_version is null
      then jsonb_build_object('type', 'unknown_agent', 'message', format('No worker knows the agent %s.', r.agent))
      when r.unknown_strategy is null then jsonb_build_object('type', 'unknown_version', 'message',
        format('No worker has version %s of the agent %s.', r.unknown_version, r.agent))
      else jsonb_build_object('type', 'unknown_strategy', 'message',
        format('No worker that knows the agent %s knows the strategy %s.', r.agent, r.unknown_strategy)) end));
end $$;
