-- 1. What the model sees next on a lane
select ordinal, role, content, tool_calls
from lanefold.lane_context
where thread_id = 'orders-42' and context_ref = 'default'
order by ordinal;

-- 2. What it saw after entry 2: the same query for any point in the past
select ordinal, role, content
from lanefold.lane_context_at('orders-42', 'default', 2)
order by ordinal;

-- 3. Recent runs: outcome, duration, tokens
select id, agent, status, termination_reason, iteration as model_calls, duration_ms, usage ->> 'total_tokens' as tokens
from lanefold.run
order by created_at desc
limit 10;

-- 4. Questions and answers of a thread
select e.payload -> 'content' as question, r.result as answer
from lanefold.run r
join lanefold.thread_entry e on e.thread_id = r.thread_id and e.seq = r.user_seq
where r.thread_id = 'orders-42'
order by r.created_at;

-- 5. Unfinished runs and their age
select thread_id, id, agent, status, worker_id, clock_timestamp() - created_at as age
from lanefold.run
where status in ('waiting', 'queued', 'running', 'suspended')
order by created_at;

-- 6. Failures of the last day, by error
select error ->> 'type' as error_type, agent, count(*) as runs, max(error ->> 'message') as example
from lanefold.run
where status = 'failed' and finished_at > clock_timestamp() - interval '1 day'
group by 1, 2
order by runs desc;

-- 7. Slow tools
select name, count(*) as calls, count(*) filter (where status <> 'ok') as not_ok,
       percentile_disc(0.5) within group (order by duration_ms) as p50_ms,
       percentile_disc(0.95) within group (order by duration_ms) as p95_ms
from lanefold.run_tool_call
group by name
order by p95_ms desc nulls last;

-- 8. Tokens by day, agent and model
select date_trunc('day', created_at) as day, agent, model, count(*) as runs,
       sum((usage ->> 'input_tokens')::bigint) as input_tokens, sum((usage ->> 'output_tokens')::bigint) as output_tokens
from lanefold.run
group by 1, 2, 3
order by 1 desc, input_tokens desc nulls last;

-- 9. The timeline of a thread, with the entry behind each event
select event_seq, at, run_id, kind, iteration, data ->> 'tool_name' as tool, (data ->> 'seq')::bigint as entry
from lanefold.run_event
where thread_id = 'orders-42'
order by event_seq;

-- 10. The anchor of each lane, and the operation that set it
select l.context_ref, l.anchor_seq, l.last_seq, o.reason, o.op_id, o.created_at
from lanefold.lane l
left join lanefold.context_op o
  on o.thread_id = l.thread_id and o.entry_seq = l.anchor_seq and o.context_ref = l.context_ref
where l.thread_id = 'orders-42'
order by l.context_ref;
