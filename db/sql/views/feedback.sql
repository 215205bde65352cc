-- What people think of answers. `latest`: the last word of this person about this answer.
create or replace view lanefold.feedback as
select e.thread_id, e.seq, (e.payload -> 'answer_seq')::bigint as answer_seq, e.payload ->> 'run_id' as run_id, e.context_ref,
       e.payload ->> 'rating' as rating, e.payload ->> 'comment' as comment, e.payload ->> 'by' as by, e.at,
       not exists (
         select from lanefold._entry n
         where n.thread_id = e.thread_id and n.kind = 'feedback' and n.seq > e.seq and n.payload -> 'answer_seq' = e.payload -> 'answer_seq'
           and n.payload -> 'by' is not distinct from e.payload -> 'by') as latest,
       r.agent, r.agent_version, e.tenant_id
from lanefold._entry e left join lanefold._run r on r.thread_id = e.thread_id and r.id = e.payload ->> 'run_id'
where e.kind = 'feedback';
