-- The runs of each tree: the root at depth 0, and the runs that tool calls started, with the call. Without children, a
-- run is in no tree.
create or replace view lanefold.run_tree as
select c.root_thread_id, c.root_run_id, c.depth, r.thread_id, r.id as run_id, c.parent_thread_id, c.parent_run_id, c.parent_round, c.parent_index,
       r.agent, r.model, r.context_ref, r.status, r.termination_reason, r.iteration, r.usage, r.other_usage, r.error, r.created_at, r.started_at, r.finished_at,
       r.tenant_id
from lanefold._child_run c
join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
union all
select r.thread_id, r.id, 0, r.thread_id, r.id, null, null, null, null,
       r.agent, r.model, r.context_ref, r.status, r.termination_reason, r.iteration, r.usage, r.other_usage, r.error, r.created_at, r.started_at, r.finished_at,
       r.tenant_id
from lanefold._run r
where not coalesce(r.options ? 'parent', false)
  and exists (select from lanefold._wait w where w.thread_id = r.thread_id and w.run_id = r.id and w.request is not null);
