-- Sets the version of an agent that a thread keeps while the agent has a rollout: a label, or null for the choice of the
-- rollout. Audited.
create or replace function lanefold.set_thread_version(p_thread_id text, p_agent text, p_version text, p_by text)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  t lanefold.thread;
begin
  t := lanefold._lock_thread(p_thread_id);
  update lanefold.thread
  set versions = nullif(jsonb_strip_nulls(coalesce(versions, '{}') || jsonb_build_object(p_agent, p_version)), '{}'), updated_at = v_at
  where id = p_thread_id;
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'rollouts.move_thread', 'tenant_id', t.tenant_id,
    'thread_id', p_thread_id, 'detail', jsonb_build_object('agent', p_agent, 'from', t.versions -> p_agent, 'to', p_version)));
end $$;
