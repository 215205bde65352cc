-- The name, without its prefix, of the queue for runs that were moved: the agent, and what of the version, the strategy and the
-- tools workers with the agent lack. Tools are told by a hash, because there may be many. Names of agents and versions contain
-- neither a plus nor an at sign, and those of strategies no tilde.
create or replace function lanefold._agent_queue(p_agent text, p_unknown_version text, p_unknown_strategy text, p_unknown_tools text[])
returns text language sql immutable as $$
  select p_agent || coalesce('@' || p_unknown_version, '') || coalesce('+' || p_unknown_strategy, '')
    || coalesce('~' || left(md5(array_to_string(p_unknown_tools, ' ')), 12), '')
$$;

-- The names of tools that _has_tools takes, for people.
create or replace function lanefold._tool_names(p_tools text[]) returns text[]
language sql immutable as $$
  select string_to_array(ltrim(replace(array_to_string(p_tools, ' '), ' +', ' '), '+'), ' ')
$$;
