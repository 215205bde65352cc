-- The versions of agents that workers have started with. `run` and the refs of answers name them.
create or replace view lanefold.agent_version as
select v.agent, v.id, v.definition, v.first_at, v.last_at from lanefold._agent_version v;
