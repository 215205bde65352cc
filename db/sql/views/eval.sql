-- The cases of datasets.
create or replace view lanefold.eval_case as
select c.id, c.dataset, c.kind, c.thread_id, c.run_id, c.llm_call_id, c.context_ref, c.seq, c.context_hash, c.agent, c.model, c.tags, c.split,
       c.expected, c.note, c.kept_by, c.created_at, c.updated_at, c.erased_at, c.tenant_id
from lanefold._case c;
