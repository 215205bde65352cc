-- The agent that an item needs: `agent`, or `agent@version` if its variant names a version.
create or replace function lanefold._eval_agent(p_spec jsonb, p_agent text, p_variant text) returns text
language sql immutable as $$
  select p_agent || coalesce('@' || (select v ->> 'version' from jsonb_array_elements(p_spec -> 'variants') v where v ->> 'name' = p_variant), '')
$$;

-- Takes waiting items of an eval, in order, up to its concurrency, for a worker with these agents, which starts their runs within
-- p_hold_ms; and items whose worker died before it had. An eval without open items is completed; once nothing of its budget is
-- left, its waiting items are skipped. Returns {no, case_id, variant, agent, repeat, taken_at, case: its row, null if it was
-- removed} each.
create or replace function lanefold.take_eval_items(p_eval text, p_agents jsonb, p_hold_ms int)
returns setof jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_hold_ms * interval '1 ms';
  e lanefold._eval;
  v_active int;
begin
  select * into e from lanefold._eval where id = p_eval and status = 'running' for update;
  if e.id is null then
    return;
  end if;
  select count(*)::int into v_active from lanefold._eval_item where eval_id = p_eval and status in ('running', 'scoring');
  if v_active = 0 and lanefold._eval_budget_left(e) <= 0 then
    update lanefold._eval_item set status = 'skipped', error = 'The budget of the eval is used up.', settled_at = v_at
    where eval_id = p_eval and status = 'waiting';
  end if;
  perform lanefold._finish_eval(p_eval, v_at);
  return query
    with next as (
      (select i.no from lanefold._eval_item i
       where i.eval_id = p_eval and i.status = 'running' and i.run_id is null and p_agents ? lanefold._eval_agent(e.spec, i.agent, i.variant) and not i.held_until > v_at)
      union all
      (select i.no from lanefold._eval_item i
       where i.eval_id = p_eval and i.status = 'waiting' and p_agents ? lanefold._eval_agent(e.spec, i.agent, i.variant)
       order by i.no limit greatest(e.concurrency - v_active, 0))
    ), taken as (
      update lanefold._eval_item i set status = 'running', taken_at = v_at, held_until = v_until
      from next where i.eval_id = p_eval and i.no = next.no returning i.*
    )
    select jsonb_strip_nulls(jsonb_build_object('no', t.no, 'case_id', t.case_id, 'variant', t.variant, 'agent', t.agent, 'repeat', t.repeat,
        'taken_at', t.taken_at)) || jsonb_build_object('case', to_jsonb(c))
    from taken t left join lanefold._case c on c.id = t.case_id order by t.no;
end $$;

-- What is left of the budget of an eval: without what its items have cost, or may cost as long as that is not known. Null without
-- a budget.
create or replace function lanefold._eval_budget_left(e lanefold._eval) returns bigint
language sql stable as $$
  select case when e.max_cost_micros is not null then
    (select e.max_cost_micros - coalesce(sum(coalesce(i.cost_micros, i.reserved_micros)), 0)::bigint from lanefold._eval_item i where i.eval_id = e.id) end
$$;

-- Reserves what the run of an item is expected to cost, for a worker that took it at p_taken_at and is about to start the run.
-- Returns reserved; waits if the budget may pay for it once the cost of other items is known, so that the item waits again;
-- skipped if it cannot; or null if the caller has lost the item.
create or replace function lanefold.reserve_eval_item(p_eval text, p_no int, p_taken_at timestamptz, p_micros bigint)
returns text language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  e lanefold._eval;
  i lanefold._eval_item;
begin
  select * into e from lanefold._eval where id = p_eval and status = 'running' for update;
  select * into i from lanefold._eval_item where eval_id = p_eval and no = p_no and status = 'running' and taken_at = p_taken_at;
  if e.id is null or i.no is null then
    return null;
  elsif i.reserved_micros is not null then
    -- by a worker that died
    return 'reserved';
  elsif coalesce(lanefold._eval_budget_left(e) >= p_micros, true) then
    update lanefold._eval_item set reserved_micros = p_micros where eval_id = p_eval and no = p_no;
    return 'reserved';
  elsif exists (select from lanefold._eval_item o
    where o.eval_id = p_eval and o.status in ('running', 'scoring') and o.reserved_micros is not null and o.cost_micros is null) then
    update lanefold._eval_item set status = 'waiting', taken_at = null, held_until = null where eval_id = p_eval and no = p_no;
    return 'waits';
  end if;
  update lanefold._eval_item set status = 'skipped', error = 'What is left of the budget of the eval does not pay for it.', settled_at = v_at
  where eval_id = p_eval and no = p_no;
  perform lanefold._finish_eval(p_eval, v_at);
  return 'skipped';
end $$;

-- Reserves p_more for the next call of an item's run, besides what it has reserved; 0 asks how much that is. Returns what the run may
-- cost now, or null if the budget does not pay for more, or the item has no reserve. A refusal is noted at the item.
create or replace function lanefold.extend_eval_item(p_eval text, p_no int, p_more bigint)
returns bigint language plpgsql as $$
declare
  e lanefold._eval;
  v_reserved bigint;
begin
  select * into e from lanefold._eval where id = p_eval and status = 'running' for update;
  update lanefold._eval_item set reserved_micros = reserved_micros + p_more
  where eval_id = p_eval and no = p_no and status = 'running' and (p_more = 0 or lanefold._eval_budget_left(e) >= p_more)
  returning reserved_micros into v_reserved;
  if v_reserved is null then
    update lanefold._eval_item set error = 'The budget of the eval was used up before its run had an answer.'
    where eval_id = p_eval and no = p_no and status = 'running' and reserved_micros is not null;
  end if;
  return v_reserved;
end $$;

-- Notes the run that the caller is about to start for an item that it took at p_taken_at, so that the run does not outlive the item if the
-- caller dies before it has called start_eval_item; p: {tenant, thread_id, run_id}. Returns false if the caller has lost the item.
create or replace function lanefold.plan_eval_run(p_eval text, p_no int, p_taken_at timestamptz, p jsonb)
returns boolean language plpgsql as $$
begin
  if not exists (select from lanefold._eval_item where eval_id = p_eval and no = p_no and status = 'running' and taken_at = p_taken_at) then
    return false;
  end if;
  perform lanefold._note_eval_thread(p_eval, p_no, p);
  return true;
end $$;

-- Notes the run of an item that the caller took at p_taken_at; p: {tenant, thread_id, run_id, reused?: it is that of an earlier eval}.
-- Returns whether the item has it now. If not, and the item needs no run any more, workers cancel the run and erase its thread.
create or replace function lanefold.start_eval_item(p_eval text, p_no int, p_taken_at timestamptz, p jsonb)
returns boolean language plpgsql as $$
declare
  v_noted boolean;
begin
  update lanefold._eval_item
  set thread_id = p ->> 'thread_id', run_id = p ->> 'run_id', reused = coalesce((p -> 'reused')::boolean, false)
  where eval_id = p_eval and no = p_no and status = 'running' and taken_at = p_taken_at;
  v_noted := found;
  if not coalesce((p -> 'reused')::boolean, false) then
    perform lanefold._note_eval_thread(p_eval, p_no, p);
  end if;
  return v_noted;
end $$;

-- Takes an item whose run has ended, or whose judge has, to score it; for p_hold_ms, unless renewed. Returns when, as a name for
-- this attempt, or null if another worker has it or it needs no score.
create or replace function lanefold.take_eval_scoring(p_eval text, p_no int, p_hold_ms int)
returns timestamptz language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_hold_ms * interval '1 ms';
begin
  update lanefold._eval_item set status = 'scoring', taken_at = v_at, held_until = v_until
  where eval_id = p_eval and no = p_no and run_id is not null
    and (status = 'running' or status = 'scoring' and (held_until is null or held_until <= v_at));
  return case when found then v_at end;
end $$;

-- Holds an item that the caller took at p_taken_at for another p_hold_ms. Returns false if the caller has lost it.
create or replace function lanefold.hold_eval_item(p_eval text, p_no int, p_taken_at timestamptz, p_hold_ms int)
returns boolean language plpgsql as $$
declare
  v_until constant timestamptz := lanefold._now() + p_hold_ms * interval '1 ms';
begin
  update lanefold._eval_item set held_until = v_until
  where eval_id = p_eval and no = p_no and taken_at = p_taken_at and status in ('running', 'scoring');
  return found;
end $$;

-- Lets an item that the caller took at p_taken_at wait for the run of its judge; p: {tenant, thread_id, run_id}. Returns whether it does;
-- if not, and it needs no judge any more, workers cancel the run and erase its thread.
create or replace function lanefold.await_eval_judge(p_eval text, p_no int, p_taken_at timestamptz, p jsonb)
returns boolean language plpgsql as $$
declare
  v_noted boolean;
begin
  update lanefold._eval_item set judge_thread_id = p ->> 'thread_id', judge_run_id = p ->> 'run_id', held_until = null
  where eval_id = p_eval and no = p_no and status = 'scoring' and taken_at = p_taken_at;
  v_noted := found;
  perform lanefold._note_eval_thread(p_eval, p_no, p);
  return v_noted;
end $$;

-- Settles an item that the caller took at p_taken_at; p: {status: done|failed|skipped|erased, answer?, scores?, ended_by?, diverged?, error?,
-- duration_ms?, input_tokens?, output_tokens?, estimated_tokens?, cost_micros?, answer_key?}, or {as_before: true} if its answer cannot be scored again. The
-- last one completes the eval. Returns whether the eval has ended.
create or replace function lanefold.settle_eval_item(p_eval text, p_no int, p_taken_at timestamptz, p jsonb)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  -- first, so that of two items that end together the later one sees the other
  perform from lanefold._eval where id = p_eval for update;
  update lanefold._eval_item set status = 'done'
  where eval_id = p_eval and no = p_no and status = 'scoring' and taken_at = p_taken_at and p ? 'as_before';
  update lanefold._eval_item
  set status = p ->> 'status', settled_at = v_at, answer = p ->> 'answer', scores = coalesce(p -> 'scores', '[]'), ended_by = p ->> 'ended_by',
      diverged = p ->> 'diverged', error = p ->> 'error', duration_ms = (p ->> 'duration_ms')::bigint, input_tokens = (p ->> 'input_tokens')::bigint,
      output_tokens = (p ->> 'output_tokens')::bigint, estimated_tokens = (p ->> 'estimated_tokens')::bigint, cost_micros = (p ->> 'cost_micros')::bigint, answer_key = p ->> 'answer_key'
  where eval_id = p_eval and no = p_no and status in ('running', 'scoring') and taken_at = p_taken_at and not p ? 'as_before';
  return lanefold._finish_eval(p_eval, v_at);
end $$;

-- Completes an eval without open items, for a caller that holds its lock. Returns whether it has ended.
create or replace function lanefold._finish_eval(p_eval text, p_at timestamptz)
returns boolean language plpgsql as $$
begin
  if exists (select from lanefold._eval_item where eval_id = p_eval and status in ('waiting', 'running', 'scoring')) then
    return false;
  end if;
  update lanefold._eval set status = 'completed', finished_at = p_at where id = p_eval and status = 'running';
  return true;
end $$;
