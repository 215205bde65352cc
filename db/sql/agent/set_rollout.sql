-- Sets which versions of an agent serve its threads. p: {weights: {label: share}, key, by}. Threads that have a version keep
-- it. The library checks it (src/agents/read-rollout.ts).
create or replace function lanefold.set_rollout(p_agent text, p jsonb)
returns void language plpgsql as $$
begin
  insert into lanefold._rollout (agent, weights, key, updated_at, updated_by)
  values (p_agent, p -> 'weights', p ->> 'key', lanefold._now(), p ->> 'by')
  on conflict (agent) do update
  set weights = excluded.weights, key = excluded.key, updated_at = excluded.updated_at, updated_by = excluded.updated_by;
end $$;

-- Removes the rollout of an agent. Returns whether there was one.
create or replace function lanefold.remove_rollout(p_agent text)
returns boolean language plpgsql as $$
begin
  delete from lanefold._rollout where agent = p_agent;
  return found;
end $$;
