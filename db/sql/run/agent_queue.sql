-- The queue of runs that were passed on, without its prefix: that of their agent, or of the agent with a strategy where workers
-- know the agent and lack the strategy. No name of an agent contains a plus.
create or replace function lanefold._agent_queue(p_agent text, p_unknown_strategy text) returns text
language sql immutable as $$ select p_agent || coalesce('+' || p_unknown_strategy, '') $$;
