-- The ledger with the arguments and results from the log; until the tool message is in the log, the stored outcome is
-- shown.
create or replace view lanefold.run_tool_call as
select c.thread_id, c.run_id, c.round, c.call_index, c.tool_call_id, c.name,
       a.payload -> 'tool_calls' -> c.call_index -> 'arguments' as arguments,
       c.status, coalesce(m.payload -> 'content', c.outcome -> 'content') as result, c.attempts, c.duration_ms, c.call_seq, c.result_seq,
       c.started_at, c.finished_at, c.run_id || ':' || c.round || ':' || c.call_index as idempotency_key, c.approval,
       c.tenant_id
from lanefold._tool_call c
left join lanefold._entry a on a.thread_id = c.thread_id and a.seq = c.call_seq
left join lanefold._entry m on m.thread_id = c.thread_id and m.seq = c.result_seq;
