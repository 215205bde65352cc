-- Why no live worker that takes jobs from a fleet's queues can execute runs with these needs: no_worker, none takes jobs from
-- them; unknown_agent, unknown_version, unknown_strategy or unknown_tool, what the workers that have all the earlier ones lack.
-- Null: one can execute them. p_queue_prefix: null for any fleet. p_version: a label or an id, as _wanted_version returns it.
-- p_strategy: the strategy that executes the run. p_tools: see _has_tools. Null for any. What counts as alive is said by the
-- view `worker`.
--
-- The answer is the same for every session of a worker or an API, also for one of a tenant, to which the policy of `_worker`
-- shows no worker: the function acts for no tenant meanwhile. Its definition cannot say so with `set`, because only superusers may
-- define that for a setting of ours. With Citus, only the coordinator has the workers, so a function that the
-- node of a thread executes must not call it (findFunctions in src/database/store/schema/distribute.ts).
create or replace function lanefold.unattended_reason(p_queue_prefix text, p_agent text, p_version text, p_strategy text, p_tools text[])
returns text language plpgsql stable as $$
declare
  v_tenant constant text := current_setting('lanefold.tenant', true);
  v_lacking text;
begin
  perform set_config('lanefold.tenant', '', true);
  v_lacking := (
    select case when count(*) = 0 then 'no_worker'
                when not bool_or(c.has_agent) then 'unknown_agent'
                when not bool_or(c.has_agent and c.has_version) then 'unknown_version'
                when not bool_or(c.has_agent and c.has_version and c.has_strategy) then 'unknown_strategy'
                when not bool_or(c.has_agent and c.has_version and c.has_strategy and c.has_tools) then 'unknown_tool' end
    from lanefold.worker w
    cross join lateral lanefold._abilities(w.agents, w.versions, w.strategies, w.tools, p_agent, p_version, p_strategy, p_tools) c
    where w.alive and not w.draining and (p_queue_prefix is null or w.queue = p_queue_prefix));
  perform set_config('lanefold.tenant', coalesce(v_tenant, ''), true);
  return v_lacking;
end $$;

-- What a worker with these agents, versions, strategies and tools has of what a run needs. PostgreSQL inlines the function.
create or replace function lanefold._abilities(
  p_agents text[], p_versions text[], p_strategies text[], p_tools text[], p_agent text, p_version text, p_strategy text, p_needed text[]
) returns table (has_agent boolean, has_version boolean, has_strategy boolean, has_tools boolean) language sql immutable as $$
  select p_agent = any (p_agents), p_version is null or p_agent || '@' || p_version = any (p_versions),
         p_strategy is null or p_strategy = any (p_strategies), p_needed is null or lanefold._has_tools(p_tools, p_agent || coalesce('@' || p_version, ''), p_needed)
$$;

-- Whether a worker has the tools that a run of an agent, `agent@version` for one that wants a version, needs. p_tools are the
-- worker's: `agent+tool` or `agent@version+tool` for one of an agent, `+tool` for one of no agent. p_needed: `tool` for one of the
-- agent, `+tool` for either. No name contains a plus.
create or replace function lanefold._has_tools(p_tools text[], p_agent text, p_needed text[]) returns boolean
language sql immutable as $$
  select not exists (
    select from unnest(p_needed) n
    where not (p_agent || '+' || ltrim(n, '+') = any (p_tools) or n like '+%' and n = any (p_tools)))
$$;
