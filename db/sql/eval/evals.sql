-- Starts an eval, and wakes the workers. p: {dataset, queue_prefix?, spec, concurrency, max_cost_micros?, by, items: [{case_id,
-- thread_id: that of the case, variant, agent, repeat, tags}] in the order in which they run}.
create or replace function lanefold.start_eval(p_tenant text, p_id text, p jsonb)
returns void language plpgsql as $$
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  insert into lanefold._eval (tenant_id, id, dataset, queue_prefix, status, spec, concurrency, max_cost_micros, created_by, created_at)
  values (p_tenant, p_id, p ->> 'dataset', p ->> 'queue_prefix', 'running', p -> 'spec', (p ->> 'concurrency')::int, (p ->> 'max_cost_micros')::bigint, p ->> 'by',
    lanefold._now());
  insert into lanefold._eval_item (tenant_id, eval_id, no, case_id, source_thread_id, variant, agent, repeat, tags, status, scores)
  select p_tenant, p_id, x.n::int, x.i ->> 'case_id', x.i ->> 'thread_id', x.i ->> 'variant', x.i ->> 'agent', (x.i ->> 'repeat')::int,
         array(select jsonb_array_elements_text(x.i -> 'tags')), 'waiting', '[]'
  from jsonb_array_elements(p -> 'items') with ordinality as x (i, n);
  perform lanefold._changed_eval('run', p_tenant, p_id, p ->> 'by');
end $$;

-- Cancels a running eval: its open items are skipped, those that were being scored again stay as they were. Returns {runs: [{thread_id,
-- run_id}] that were not known to have ended}, or null if it is not running.
create or replace function lanefold.cancel_eval(p_eval text, p_by text)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  e lanefold._eval;
  v_runs jsonb;
begin
  select * into e from lanefold._eval where id = p_eval and status = 'running' for update;
  if e.id is null then
    return null;
  end if;
  select coalesce(jsonb_agg(jsonb_build_object('thread_id', r.thread_id, 'run_id', r.run_id)), '[]') into v_runs from (
    select i.thread_id, i.run_id from lanefold._eval_item i where i.eval_id = p_eval and i.status = 'running' and i.run_id is not null and not i.reused
    union all
    select i.judge_thread_id, i.judge_run_id from lanefold._eval_item i where i.eval_id = p_eval and i.status = 'scoring' and i.judge_run_id is not null) r;
  update lanefold._eval_item set status = 'done' where eval_id = p_eval and status = 'scoring' and answer is not null;
  update lanefold._eval_item set status = 'skipped', error = 'The eval was cancelled.', settled_at = v_at
  where eval_id = p_eval and status in ('waiting', 'running', 'scoring');
  -- runs that were about to start
  update lanefold._eval_thread t set erase_at = v_at
  from lanefold._eval_item i
  where i.eval_id = p_eval and i.status = 'skipped' and i.thread_id is null and t.eval_id = p_eval and t.no = i.no and t.erase_at is null;
  update lanefold._eval set status = 'cancelled', finished_at = v_at where id = p_eval;
  perform lanefold._changed_eval('cancel', e.tenant_id, p_eval, p_by);
  return jsonb_build_object('runs', v_runs);
end $$;

-- Lets workers of a private queue, or with null of shared ones, score the answers of an ended eval again, except those whose case is gone. They keep their scores until they have new ones.
-- Returns how many, or null if there is no such eval, or it is running.
create or replace function lanefold.rescore_eval(p_eval text, p_by text, p_queue text)
returns int language plpgsql as $$
declare
  e lanefold._eval;
  v_count int;
begin
  select * into e from lanefold._eval where id = p_eval and status <> 'running' for update;
  if e.id is null then
    return null;
  end if;
  update lanefold._eval_item set status = 'scoring', taken_at = null, held_until = null, judge_run_id = null
  where eval_id = p_eval and status = 'done' and case_id in (select c.id from lanefold._case c where c.tenant_id = e.tenant_id and c.erased_at is null);
  get diagnostics v_count = row_count;
  if v_count > 0 then
    update lanefold._eval set status = 'running', finished_at = null, queue_prefix = p_queue where id = p_eval;
  end if;
  perform lanefold._changed_eval('rescore', e.tenant_id, p_eval, p_by);
  return v_count;
end $$;

-- Removes an ended eval; workers erase the threads of its runs. Returns false if there is no such eval, or it is running.
create or replace function lanefold.remove_eval(p_eval text, p_by text)
returns boolean language plpgsql as $$
declare
  e lanefold._eval;
begin
  select * into e from lanefold._eval where id = p_eval and status <> 'running' for update;
  if e.id is null then
    return false;
  end if;
  delete from lanefold._eval_item where eval_id = p_eval;
  update lanefold._eval_thread set erase_at = lanefold._now() where eval_id = p_eval and erase_at is null;
  delete from lanefold._eval where id = p_eval;
  perform lanefold._changed_eval('remove', e.tenant_id, p_eval, p_by);
  return true;
end $$;

-- Audits what was done to an eval, and wakes the workers.
create or replace function lanefold._changed_eval(p_action text, p_tenant text, p_eval text, p_by text)
returns void language plpgsql as $$
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'evals.' || p_action, 'tenant_id', p_tenant,
    'detail', jsonb_build_object('id', p_eval)));
  perform pg_notify('lanefold_evals', '');
end $$;
