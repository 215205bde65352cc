-- The name, without its prefix, of the queue for runs that were moved: the agent, or the agent and the strategy if
-- workers know the agent but lack the strategy. Names of agents contain no plus.
create or replace function lanefold._agent_queue(p_agent text, p_unknown_strategy text) returns text
language sql immutable as $$ select p_agent || coalesce('+' || p_unknown_strategy, '') $$;
