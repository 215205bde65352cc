-- The messages of a thread as a tree. The parent of a message is the message before it on its lane; of the first one of a
-- branch, the message after which the branch left. Messages with the same parent are siblings, in the order of the log.
-- Anchors of other reasons do not count: after a compaction or a restore, the conversation goes on where it was.
create or replace view lanefold.message_tree as
select m.thread_id, m.seq, m.context_ref, m.role, m.run_id, m.parent_seq,
       count(*) over (partition by m.thread_id, m.root, m.parent_seq)::int as siblings,
       (row_number() over (partition by m.thread_id, m.root, m.parent_seq order by m.seq))::int as place, m.tenant_id
from (
  select e.thread_id, e.seq, e.context_ref, e.role, e.run_id, coalesce(l.root_ref, e.context_ref) as root,
         coalesce(lag(e.seq) over (partition by e.thread_id, e.context_ref order by e.seq), l.parent_seq) as parent_seq, e.tenant_id
  from lanefold._entry e
  join lanefold._lane l on l.thread_id = e.thread_id and l.context_ref = e.context_ref
  where e.kind = 'ai_message'
) m;
