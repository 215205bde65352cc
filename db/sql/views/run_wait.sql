-- What tool calls wait for or waited for, and the runs they started. Its end is told by status: open, resolved, expired,
-- overridden or abandoned.
create or replace view lanefold.run_wait as
select w.thread_id, w.run_id, w.round, w.call_index, c.tool_call_id, c.name, w.kind, w.status, w.event, w.child_thread_id, w.child_run_id,
       w.created_at, w.until, w.ended_at, w.ended_by, w.child_ended_at, w.child_cost, w.tenant_id
from lanefold._wait w
join lanefold._tool_call c on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index;
