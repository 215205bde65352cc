-- Sets which versions of an agent serve its threads. p: {shares: {label: share}, key, by}. Threads that have a version keep
-- it. Audited. The library checks it (src/agent/definition/version.ts).
create or replace function lanefold.set_rollout(p_agent text, p jsonb)
returns void language plpgsql as $$
declare
  v_old lanefold._rollout;
  v_new lanefold._rollout;
begin
  select * into v_old from lanefold._rollout where agent = p_agent for update;
  insert into lanefold._rollout (agent, shares, key, updated_at, updated_by)
  values (p_agent, p -> 'shares', p ->> 'key', lanefold._now(), p ->> 'by')
  on conflict (agent) do update
  set shares = excluded.shares, key = excluded.key, updated_at = excluded.updated_at, updated_by = excluded.updated_by
  returning * into v_new;
  perform lanefold.write_audit(jsonb_build_object('actor', p ->> 'by', 'action', 'rollouts.set', 'detail',
    jsonb_strip_nulls(jsonb_build_object('agent', p_agent, 'old', lanefold._rollout_detail(v_old), 'new', lanefold._rollout_detail(v_new)))));
end $$;

-- Removes the rollout of an agent. Audited. Returns whether there was one.
create or replace function lanefold.remove_rollout(p_agent text, p_by text)
returns boolean language plpgsql as $$
declare
  v_old lanefold._rollout;
begin
  delete from lanefold._rollout where agent = p_agent returning * into v_old;
  if v_old.agent is null then
    return false;
  end if;
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'rollouts.remove', 'detail',
    jsonb_build_object('agent', p_agent, 'old', lanefold._rollout_detail(v_old))));
  return true;
end $$;

-- What the audit says about a rollout. Null for none.
create or replace function lanefold._rollout_detail(r lanefold._rollout)
returns jsonb language sql immutable as $$
  select case when r.agent is not null then jsonb_strip_nulls(jsonb_build_object('shares', r.shares, 'key', r.key)) end;
$$;
