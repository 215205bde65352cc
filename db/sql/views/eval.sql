-- The cases of datasets, the evals, and their items.
create or replace view lanefold.eval_case as
select c.id, c.dataset, c.kind, c.thread_id, c.run_id, c.llm_call_id, c.context_ref, c.seq, c.context_hash, c.agent, c.model, c.tags, c.split,
       c.expected, c.note, c.kept_by, c.created_at, c.updated_at, c.erased_at, c.tenant_id
from lanefold._case c;

create or replace view lanefold.eval as
select e.id, e.dataset, e.status, e.spec, e.concurrency, e.max_cost_micros, e.created_by, e.created_at, e.finished_at, e.tenant_id
from lanefold._eval e;

create or replace view lanefold.eval_item as
select i.eval_id, i.no, i.case_id, i.variant, i.agent, i.repeat, i.status, i.thread_id, i.run_id, i.judge_thread_id, i.judge_run_id, i.tags,
       i.answer, i.scores, i.ended_by, i.diverged, i.reused, i.error, i.duration_ms, i.input_tokens, i.output_tokens, i.cost_micros, i.settled_at,
       i.tenant_id, i.estimated_tokens
from lanefold._eval_item i;
