-- Monitors, and the scores that they gave to runs.
create or replace view lanefold.monitor as
select m.name, m.agents, m.sample, m.scorers, m.rubric, m.judge, m.alert, m.scored, m.low_since, m.read_to, m.created_at, m.updated_at,
       m.updated_by, m.tenant_id
from lanefold._monitor m;

create or replace view lanefold.run_score as
select s.monitor, s.thread_id, s.run_id, s.agent, s.agent_version, s.status, s.score, s.scores, s.ended_at, s.scored_at, s.tenant_id
from lanefold._run_score s;
