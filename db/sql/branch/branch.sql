-- Branches a thread: makes a new lane whose anchor holds the context of a lane after an entry, and with `run` accepts a run on
-- it, in one commit. The other lane stays as it is. An edited question is a branch after the entry before that question, with a
-- run; another answer is a branch after the question, with a run without input, which answers it.
-- p: {op_id, hash, after_seq: the last entry whose context the branch has, -1: none; context_ref?: the lane to leave, default
-- the lane of that entry; lane?: name of the new lane, default the name of the other one with a number, such as default@2;
-- show?: default true, makes the branch the active lane; busy?: reject|wait|interrupt, for a thread with an active run; run?:
-- as enqueue_run takes it, without context_ref and busy; max_context_bytes?}.
-- The new lane has the settings that the thread has now, and those of the other lane as of the entry, whichever is later. If a run
-- is active, the branch is written at once and shown when its own run becomes active, or without a run when the active one has
-- ended. Repeating an op_id returns the first answer.
-- Returns {op_id, context_ref, parent: {context_ref, after_seq, parent_seq}, seq: the anchor, shown: it is the active lane now,
-- duplicate, run?: as enqueue_run returns it, promoted?, ended?: the run that an interrupt without a run has ended}. Raises
-- LF004 busy, LF007 another body under the op_id, LF008 inside an open tool group, LF010 a lane that exists, LF014 no such
-- entry, lane or question, LF016 bad id, LF023 context too large.
create or replace function lanefold.branch(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_op constant text := p ->> 'op_id';
  t lanefold.thread;
  v_answer jsonb;
  b record;
  v_lane text;
  v_idle boolean;
  v_shows constant boolean := coalesce((p -> 'show')::boolean, true);
  v_cancelled jsonb;
begin
  perform lanefold._check_id(v_op, 'op_id');
  t := lanefold._lock_thread(p_thread_id);
  v_answer := lanefold._branched_before(p_thread_id, t, p);
  if v_answer is not null then
    return v_answer;
  end if;
  perform lanefold._check_busy(p_thread_id, t, p ->> 'busy');
  b := lanefold._branch_point(p_thread_id, t, p);
  v_lane := lanefold._branch_name(p_thread_id, b.context_ref, p);
  v_idle := t.active_run_id is null;
  perform lanefold._write_branch(p_thread_id, t, v_lane, to_jsonb(b), v_shows and v_idle, p);
  if p ? 'run' then
    select * into t from lanefold.thread where id = p_thread_id;
    v_answer := jsonb_build_object('run', lanefold._enqueue_run(p_thread_id, t, lanefold._branch_run(p, v_lane, b.after_seq, v_shows and not v_idle)));
  elsif not v_idle then
    if v_shows then
      update lanefold.thread set pending_branch = v_lane where id = p_thread_id;
    end if;
    if p ->> 'busy' = 'interrupt' then
      v_cancelled := lanefold.cancel_run(p_thread_id, t.active_run_id, 'interrupted');
      v_answer := case when v_cancelled ->> 'status' = 'cancelled' then jsonb_build_object('ended', t.active_run_id) else '{}' end
        || case when v_cancelled ? 'promoted' then jsonb_build_object('promoted', v_cancelled -> 'promoted') else '{}' end
        || case when v_cancelled ? 'deliveries' then jsonb_build_object('deliveries', v_cancelled -> 'deliveries') else '{}' end;
    end if;
  end if;
  return lanefold._branch_answer(p_thread_id, v_op, v_lane, false) || coalesce(v_answer, '{}');
end $$;

-- The answer to a branch that the thread has already; null for a new one. Raises LF007.
create or replace function lanefold._branched_before(p_thread_id text, t lanefold.thread, p jsonb)
returns jsonb language plpgsql as $$
declare
  o lanefold.context_op;
  v_run json;
begin
  select * into o from lanefold.context_op where thread_id = p_thread_id and op_id = p ->> 'op_id';
  if found and o.hash <> coalesce(p ->> 'hash', '') then
    perform lanefold._fail('LF007', format('Operation %s was accepted with another body.', o.op_id), 'Use a new op_id for a new branch.');
  end if;
  if p ? 'run' then
    v_run := lanefold._accepted_before(p_thread_id, t, p -> 'run');
  end if;
  if o.op_id is not null then
    return lanefold._branch_answer(p_thread_id, o.op_id, o.context_ref, true)
      || case when v_run is null then '{}' else jsonb_build_object('run', v_run) end;
  elsif v_run is not null then
    perform lanefold._fail('LF007', format('Request %s was accepted before, without this branch.', p #>> '{run,request_id}'),
      'Use a new op_id for a new branch.');
  end if;
  return null;
end $$;

-- The answer to a branch.
create or replace function lanefold._branch_answer(p_thread_id text, p_op_id text, p_lane text, p_duplicate boolean)
returns jsonb language plpgsql stable as $$
begin
  return (
    select jsonb_build_object('op_id', p_op_id, 'context_ref', l.context_ref, 'seq', l.branch_seq, 'shown', t.active_context_ref = l.context_ref,
      'duplicate', p_duplicate, 'parent', jsonb_build_object('context_ref', l.parent_ref, 'after_seq', l.after_seq, 'parent_seq', l.parent_seq))
    from lanefold._lane l join lanefold.thread t on t.id = l.thread_id
    where l.thread_id = p_thread_id and l.context_ref = p_lane);
end $$;

-- Where a branch leaves: the lane that has the entry, which is an ancestor of the named one if that one began later; the
-- entry; the message before the branch; and the first lane of the tree.
create or replace function lanefold._branch_point(
  p_thread_id text, t lanefold.thread, p jsonb, out context_ref text, out after_seq bigint, out parent_seq bigint, out root_ref text
) language plpgsql stable as $$
declare
  l lanefold._lane;
begin
  after_seq := (p ->> 'after_seq')::bigint;
  if coalesce(after_seq < -1 or after_seq >= t.rev, true) then
    perform lanefold._fail('LF014', format('Thread %s has no entry %s to branch after: its last entry is %s.', p_thread_id, after_seq, t.rev - 1),
      'Nothing was written. Pass the seq of an entry, or -1 to begin empty.');
  end if;
  context_ref := p ->> 'context_ref';
  if context_ref is null then
    select e.context_ref into context_ref from lanefold._entry e where e.thread_id = p_thread_id and e.seq = after_seq;
    context_ref := coalesce(context_ref, t.active_context_ref);
  elsif not exists (select from lanefold._lane k where k.thread_id = p_thread_id and k.context_ref = p ->> 'context_ref') then
    perform lanefold._fail('LF014', format('Thread %s has no lane %s to branch from.', p_thread_id, context_ref),
      'Nothing was written. Name a lane of the thread, or leave context_ref out.');
  end if;
  loop
    select * into l from lanefold._lane k where k.thread_id = p_thread_id and k.context_ref = _branch_point.context_ref;
    exit when l.branch_seq is null or l.branch_seq <= after_seq;
    context_ref := l.parent_ref;
    after_seq := least(after_seq, l.after_seq);
  end loop;
  root_ref := coalesce(l.root_ref, context_ref);
  select coalesce(max(e.seq), l.parent_seq) into parent_seq from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = _branch_point.context_ref and e.kind = 'ai_message' and e.seq <= after_seq;
  if p ? 'run' and not p -> 'run' ? 'input' and not exists (
    select from lanefold._entry e
    where e.thread_id = p_thread_id and e.seq = after_seq and e.kind = 'ai_message' and e.role = 'user')
  then
    perform lanefold._fail('LF014', format('Entry %s of thread %s is not a question that a run without input could answer.', after_seq, p_thread_id),
      'Nothing was written. Branch after the question, or pass input.');
  end if;
end $$;

-- The name of a new lane: the given one, or that of the lane it leaves with the next free number. Raises LF010, LF016.
create or replace function lanefold._branch_name(p_thread_id text, p_parent_ref text, p jsonb)
returns text language plpgsql stable as $$
declare
  v_lane text := p ->> 'lane';
  v_base constant text := regexp_replace(p_parent_ref, '@[0-9]{1,9}$', '');
  v_no int;
  v_taken boolean;
begin
  if v_lane is null then
    select coalesce(max(substring(l.context_ref from '@([0-9]{1,9})$')::int), 1) into v_no from lanefold._lane l
    where l.thread_id = p_thread_id and l.branch_seq is not null;
  end if;
  loop
    v_no := v_no + 1;
    -- ids have at most 128 bytes, and are ASCII
    v_lane := coalesce(p ->> 'lane', left(v_base, 127 - length(v_no::text)) || '@' || v_no);
    perform lanefold._check_id(v_lane, 'lane');
    v_taken := exists (select from lanefold._lane l where l.thread_id = p_thread_id and l.context_ref = v_lane)
      or exists (select from lanefold._run r where r.thread_id = p_thread_id and not r.active and r.finished_at is null and r.context_ref = v_lane)
      or exists (select from lanefold.thread x join lanefold.context_op o on o.thread_id = x.id and o.op_id = x.pending_op_id
        where x.id = p_thread_id and o.context_ref = v_lane);
    exit when not v_taken;
    if p ? 'lane' then
      perform lanefold._fail('LF010', format('Branch %s is invalid: thread %s has a lane %s already.', p ->> 'op_id', p_thread_id, v_lane),
        'Nothing was written. Name another lane, or none.');
    end if;
  end loop;
  return v_lane;
end $$;

-- Writes the settings and the anchor of a branch. b: as _branch_point returns it.
create or replace function lanefold._write_branch(p_thread_id text, t lanefold.thread, p_lane text, b jsonb, p_shown boolean, p jsonb)
returns void language plpgsql as $$
declare
  v_from constant text := b ->> 'context_ref';
  v_after constant bigint := (b ->> 'after_seq')::bigint;
  v_bytes bigint;
  v_context jsonb;
  v_settings jsonb;
  v_operation jsonb;
  v_seq bigint;
begin
  v_bytes := lanefold._lane_bytes(p_thread_id, v_from, v_after);
  if v_bytes <= 134217728 then
    v_context := lanefold._fork_context(p_thread_id, v_from, v_after, false);
    if v_context ? 'system_prompt' and exists (
      select from lanefold._entry e
      where e.thread_id = p_thread_id and e.context_ref is null and e.kind = 'ai_config_change' and e.payload ->> 'field' = 'system_prompt'
        and e.seq > v_after)
    then
      v_context := v_context - 'system_prompt';
    end if;
    v_operation := jsonb_build_object('type', 'replace', 'reason', 'branch', 'result_context', v_context,
      'meta', jsonb_build_object('branch', b || case when p_shown then '{}' else '{"shown": false}' end::jsonb));
    v_bytes := pg_column_size(v_operation)::bigint;
  end if;
  if v_bytes > lanefold._max_context_bytes(p) or v_operation is null then
    perform lanefold._fail('LF023', format('The context of lane %s of thread %s has %s bytes after entry %s: too many for a branch.', v_from,
      p_thread_id, v_bytes, v_after), 'Nothing was written. Branch after an earlier entry, or compact the lane first.');
  end if;
  v_settings := lanefold._lane_settings(p_thread_id, v_from, v_after);
  if v_settings <> '[]' then
    perform lanefold._insert_entries(p_thread_id, t.rev, lanefold._now(), v_settings, p_lane);
    update lanefold.thread set rev = rev + jsonb_array_length(v_settings) where id = p_thread_id;
  end if;
  v_seq := lanefold._write_operation(p_thread_id, p ->> 'op_id', p_lane, v_operation, coalesce(p ->> 'hash', ''), p_shown);
  update lanefold._lane set parent_ref = v_from, root_ref = b ->> 'root_ref', branch_seq = v_seq, after_seq = v_after,
    parent_seq = (b ->> 'parent_seq')::bigint
  where thread_id = p_thread_id and context_ref = p_lane;
end $$;

-- The settings of a lane as of an entry, as drafts of entries, without those that later settings of the whole thread replace.
create or replace function lanefold._lane_settings(p_thread_id text, p_context_ref text, p_upto bigint)
returns jsonb language plpgsql stable as $$
begin
  return (
    select coalesce(to_jsonb(array_agg(jsonb_build_object('kind', 'ai_config_change', 'payload', c.payload, 'refs', c.refs) order by c.seq)), '[]')
    from (
      select distinct on (e.payload ->> 'field') e.payload, e.refs, e.seq
      from lanefold._entry e
      where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_config_change' and e.seq <= p_upto
      order by e.payload ->> 'field', e.seq desc) c
    where not exists (
      select from lanefold._entry w
      where w.thread_id = p_thread_id and w.context_ref is null and w.kind = 'ai_config_change'
        and w.payload ->> 'field' = c.payload ->> 'field' and w.seq > c.seq));
end $$;

-- The request of the run of a branch. p_shows: the run shows its lane once it becomes active.
create or replace function lanefold._branch_run(p jsonb, p_lane text, p_after bigint, p_shows boolean)
returns jsonb language sql immutable parallel safe as $$
  select p -> 'run' || jsonb_build_object('context_ref', p_lane, 'busy', p -> 'busy', 'create_thread', false,
    'options', coalesce(p #> '{run,options}', '{}')
      || case when p -> 'run' ? 'input' then '{}' else jsonb_build_object('continues', true, 'answers', p_after) end
      || case when p_shows then '{"shows": true}' else '{}' end::jsonb);
$$;
