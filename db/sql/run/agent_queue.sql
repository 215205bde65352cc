-- The name, without its prefix, of the queue for runs that were moved: the agent, or the agent and the strategy if
-- workers know the agent but lack the strategy, or the agent and the version that they lack. Names of agents and versions
-- contain neither a plus nor an at sign.
create or replace function lanefold._agent_queue(p_agent text, p_unknown_version text, p_unknown_strategy text) returns text
language sql immutable as $$ select p_agent || coalesce('@' || p_unknown_version, '') || coalesce('+' || p_unknown_strategy, '') $$;
