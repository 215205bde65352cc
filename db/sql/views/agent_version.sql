-- The versions of agents that workers have started with. `run` and the refs of answers name them.
create or replace view lanefold.agent_version as
select v.agent, v.id, v.label, v.definition, v.first_at, v.last_at from lanefold._agent_version v;

-- Which versions serve the threads of an agent: its share by label, and the limit key that is hashed (null: the thread).
create or replace view lanefold.rollout as
select r.agent, r.shares, r.key, r.updated_at, r.updated_by from lanefold._rollout r;
