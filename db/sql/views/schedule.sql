-- The schedules, without the tool context of their runs, which may be secret, and the slots that have come.
create or replace view lanefold.schedule as
select s.name, s.agent, s.timing, s.overlap, s.thread_id, s.definition #- '{options,tool_context}' as definition, s.next_at, s.paused_at, s.source, s.version, s.created_at, s.updated_at,
       s.updated_by, s.tenant_id
from lanefold._schedule s;

create or replace view lanefold.schedule_slot as
select k.name, k.slot, k.due_at, k.status, k.late, k.settled_at, k.thread_id, k.run_id, k.error, k.tenant_id
from lanefold._schedule_slot k;
