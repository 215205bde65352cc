-- What is notable about runs, by kind. run_marks says what each kind means, and has every mark with its details.
create or replace view lanefold.run_mark as
select m.kind, m.created_at, m.thread_id, m.run_id, m.count, m.seq, m.llm_call_id, m.agent, m.agent_version, m.tenant_id
from lanefold._run_mark m;
