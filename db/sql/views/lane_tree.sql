-- The lanes of a thread as a tree: which lane each branch left, after which entry, and which lane is shown.
create or replace view lanefold.lane_tree as
select l.thread_id, l.context_ref, l.parent_ref as parent_context_ref, l.after_seq as branched_after_seq, l.parent_seq,
       coalesce(l.root_ref, l.context_ref) as root_context_ref, l.branch_seq, t.active_context_ref = l.context_ref as shown,
       greatest(operation.seq, message.seq) as last_seq, least(opened.at, asked.at) as created_at, l.tenant_id
from lanefold._lane l
join lanefold.thread t on t.id = l.thread_id
left join lateral (
  select e.seq from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation'
  order by e.seq desc limit 1
) operation on true
left join lateral (
  select e.seq from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message'
  order by e.seq desc limit 1
) message on true
left join lateral (
  select e.at from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation'
  order by e.seq limit 1
) opened on true
left join lateral (
  select e.at from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message'
  order by e.seq limit 1
) asked on true;
