-- Alarms, and their counts over time.
create or replace view lanefold.alarm as
select a.name, a.filter, a.more_than, a.share, a.within_ms, a.clear_after_ms, a.raised_at, a.runs, a.all_runs, a.counted_at, a.paused_at,
       a.created_at, a.updated_at, a.updated_by, a.tenant_id
from lanefold._alarm a;

create or replace view lanefold.alarm_count as
select c.alarm, c.at, c.runs, c.all_runs, c.raised, c.tenant_id
from lanefold._alarm_count c;
