-- Sets the version of an agent that a thread keeps while the agent has a rollout: a label, or null for the choice of the rollout.
create or replace function lanefold.set_thread_version(p_thread_id text, p_agent text, p_version text)
returns void language plpgsql as $$
begin
  perform lanefold._lock_thread(p_thread_id);
  update lanefold.thread
  set versions = nullif(jsonb_strip_nulls(coalesce(versions, '{}') || jsonb_build_object(p_agent, p_version)), '{}'), updated_at = lanefold._now()
  where id = p_thread_id;
end $$;
