-- Keeps a case. p: {dataset, kind: run|call, thread_id, run_id?, llm_call_id?: both absent for an imported call, seq, context_ref, context_hash, agent, model,
-- tags, split?, expected?, note?, by}. Returns {id, kept: false if there was a case of this id, or the dataset had one of this
-- source, whose id it is}.
-- Audited. Raises LF016.
create or replace function lanefold.keep_case(p_tenant text, p_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_id text;
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  perform lanefold._check_id(p ->> 'dataset', 'dataset');
  insert into lanefold._case (tenant_id, id, dataset, kind, thread_id, run_id, llm_call_id, seq, context_ref, context_hash, agent, model, tags,
    split, expected, note, kept_by, created_at, updated_at)
  values (p_tenant, p_id, p ->> 'dataset', p ->> 'kind', p ->> 'thread_id', p ->> 'run_id', p ->> 'llm_call_id', (p ->> 'seq')::bigint,
    p ->> 'context_ref', p ->> 'context_hash', p ->> 'agent', p ->> 'model', array(select jsonb_array_elements_text(p -> 'tags')),
    p ->> 'split', nullif(p -> 'expected', 'null'), p ->> 'note', p ->> 'by', v_at, v_at)
  on conflict do nothing;
  if found then
    -- an imported case is a copy of one that was audited where it was kept
    if p ? 'run_id' then
      perform lanefold._changed_case('keep', p ->> 'by', p_tenant, p ->> 'thread_id', p_id, p ->> 'dataset');
    end if;
    return jsonb_build_object('id', p_id, 'kept', true);
  end if;
  select id into v_id from lanefold._case
  where tenant_id = p_tenant and dataset = p ->> 'dataset' and (id = p_id
    or thread_id = p ->> 'thread_id' and llm_call_id = p ->> 'llm_call_id' and kind = p ->> 'kind');
  return jsonb_build_object('id', v_id, 'kept', false);
end $$;

-- Changes what p has of {tags, split, expected, note}, by p.by; a null takes away. Audited. Returns false if there is no such case, or if its
-- thread is erased.
create or replace function lanefold.update_case(p_id text, p jsonb)
returns boolean language plpgsql as $$
declare
  c lanefold._case;
begin
  update lanefold._case
  set tags = case when p ? 'tags' then array(select jsonb_array_elements_text(p -> 'tags')) else tags end,
      split = case when p ? 'split' then p ->> 'split' else split end,
      expected = case when p ? 'expected' then nullif(p -> 'expected', 'null') else expected end,
      note = case when p ? 'note' then p ->> 'note' else note end,
      updated_at = lanefold._now()
  where id = p_id and erased_at is null returning * into c;
  if c.id is null then
    return false;
  end if;
  perform lanefold._changed_case('update', p ->> 'by', c.tenant_id, c.thread_id, c.id, c.dataset);
  return true;
end $$;

-- Removes a case, which is audited. Returns whether there was one.
create or replace function lanefold.remove_case(p_id text, p_by text)
returns boolean language plpgsql as $$
declare
  c lanefold._case;
begin
  delete from lanefold._case where id = p_id returning * into c;
  if c.id is null then
    return false;
  end if;
  perform lanefold._changed_case('remove', p_by, c.tenant_id, c.thread_id, c.id, c.dataset);
  return true;
end $$;

-- Audits a change of a case, without what the case says: the audit is kept when its thread is erased.
create or replace function lanefold._changed_case(p_action text, p_by text, p_tenant text, p_thread text, p_id text, p_dataset text)
returns void language plpgsql as $$
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'cases.' || p_action, 'tenant_id', p_tenant, 'thread_id', p_thread,
    'detail', jsonb_build_object('id', p_id, 'dataset', p_dataset)));
end $$;

-- Marks the cases of an erased thread and their items, also those of removed cases, and removes what they quote of it; workers erase
-- the threads of the items. erase_thread calls it; on a distributed database, whose nodes lack these tables, the library does. Returns
-- how many cases.
create or replace function lanefold.erase_cases(p_source text)
returns int language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_count int;
begin
  update lanefold._case set erased_at = v_at, updated_at = v_at, expected = null, note = null, tags = '{}', split = null
  where thread_id = p_source and erased_at is null;
  get diagnostics v_count = row_count;
  update lanefold._eval_item
  set status = 'erased', settled_at = v_at, answer = null, scores = '[]', ended_by = null, diverged = null, error = null, answer_key = null,
      tags = '{}', thread_id = null, run_id = null, judge_thread_id = null, judge_run_id = null
  where source_thread_id = p_source and status <> 'erased';
  perform lanefold._drop_judges(null, null, p_source);
  delete from lanefold._run_score where thread_id = p_source;
  update lanefold._eval_thread t set erase_at = v_at
  from lanefold._eval_item i where i.source_thread_id = p_source and t.eval_id = i.eval_id and t.no = i.no and t.erase_at is null;
  return v_count;
end $$;
