-- Whether a live worker that takes jobs from a fleet's queues can execute runs with these needs. p_version: a label or an id,
-- as _wanted_version returns it; null: any. p_strategy: the strategy that executes the run; null: any. What counts as alive
-- is said by the view `worker`.
--
-- The answer is the same for every session that may call it, also for one of a tenant, to which the policy of `_worker` shows
-- no worker: the function acts for no tenant meanwhile. Its definition cannot say so with `set`, because only superusers may define
-- that for a setting of ours. With Citus, only the coordinator has the workers, so a function that the node
-- of a thread executes must not call it (findFunctions in src/store/schema/distribute.ts).
create or replace function lanefold._is_attended(p_queue_prefix text, p_agent text, p_version text, p_strategy text)
returns boolean language plpgsql stable as $$
declare
  v_tenant constant text := current_setting('lanefold.tenant', true);
  v_attended boolean;
begin
  perform set_config('lanefold.tenant', '', true);
  v_attended := exists (
    select from lanefold.worker w
    where w.queue = p_queue_prefix and w.alive and not w.draining and p_agent = any (w.agents)
      and (p_version is null or p_agent || '@' || p_version = any (w.versions))
      and (p_strategy is null or p_strategy = any (w.strategies)));
  perform set_config('lanefold.tenant', coalesce(v_tenant, ''), true);
  return v_attended;
end $$;
