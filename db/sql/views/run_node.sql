-- The nodes of a strategy, in the order in which it asked and concluded: the answers to its questions, and the tree or
-- graph it built from them. Node 0, the question, is the run's user message and has no row.
create or replace view lanefold.run_node as
select n.thread_id, n.run_id, n.node, n.parent, n.depth, n.kind, n.status, n.score, n.content,
       case when n.call_no is not null then n.run_id || '.' || n.call_no end as call_id, n.usage, n.elapsed_ms, n.data, n.tenant_id
from lanefold._run_node n;
