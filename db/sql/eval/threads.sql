-- Notes a thread that the item of an eval has made. p: {tenant, thread_id, run_id}. A thread for which the item has no use, because the
-- item was settled or removed meanwhile, is to be erased; an attempt that was merely overtaken has made the same thread as the other one.
create or replace function lanefold._note_eval_thread(p_eval text, p_no int, p jsonb)
returns void language plpgsql as $$
declare
  v_erase_at timestamptz;
begin
  if not exists (
    select from lanefold._eval_item i
    where i.eval_id = p_eval and i.no = p_no
      and (i.status in ('waiting', 'running', 'scoring') or p ->> 'thread_id' in (i.thread_id, i.judge_thread_id))) then
    v_erase_at := lanefold._now();
  end if;
  insert into lanefold._eval_thread as t (tenant_id, thread_id, run_id, eval_id, no, erase_at)
  values (p ->> 'tenant', p ->> 'thread_id', p ->> 'run_id', p_eval, p_no, v_erase_at)
  on conflict (tenant_id, thread_id) do update set erase_at = coalesce(t.erase_at, excluded.erase_at);
end $$;

-- Takes up to p_limit threads to erase, those that have waited longest, for p_hold_ms: after that they are to be erased again.
-- Returns {tenant, thread_id, run_id} each.
create or replace function lanefold.take_eval_threads(p_limit int, p_hold_ms int)
returns setof jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  return query
    update lanefold._eval_thread t set erase_at = v_at + p_hold_ms * interval '1 ms'
    from (select n.tenant_id, n.thread_id from lanefold._eval_thread n where n.erase_at <= v_at order by n.erase_at limit p_limit for update skip locked) next
    where t.tenant_id = next.tenant_id and t.thread_id = next.thread_id
    returning jsonb_build_object('tenant', t.tenant_id, 'thread_id', t.thread_id, 'run_id', t.run_id);
end $$;

-- Notes that a thread is erased.
create or replace function lanefold.drop_eval_thread(p_tenant text, p_thread text)
returns void language plpgsql as $$
begin
  delete from lanefold._eval_thread where tenant_id = p_tenant and thread_id = p_thread and erase_at is not null;
end $$;

-- Removes the cases, evals and monitors of a tenant; workers cancel their runs and erase their threads.
create or replace function lanefold.erase_evals(p_tenant text)
returns void language plpgsql as $$
begin
  delete from lanefold._eval_item where tenant_id = p_tenant;
  delete from lanefold._eval where tenant_id = p_tenant;
  delete from lanefold._case where tenant_id = p_tenant;
  delete from lanefold._monitor where tenant_id = p_tenant;
  delete from lanefold._run_score where tenant_id = p_tenant;
  update lanefold._eval_thread set erase_at = lanefold._now() where tenant_id = p_tenant and erase_at is null;
end $$;
