-- The event batches of each run, found by the range of event_seq in its row; only this view uses that range. A run
-- without last_event_seq has not ended.
create or replace view lanefold._run_batch as
select r.thread_id, r.id as run_id, b.event_seq, b.seq, b.at, b.entry_seq, b.events, r.model, r.usage, r.tenant_id
from lanefold._run r
join lanefold._batch b on b.thread_id = r.thread_id and b.run_id = r.id
  and b.event_seq >= r.first_event_seq
  and b.event_seq <= case when r.last_event_seq is null then 9223372036854775807 else r.last_event_seq end;
