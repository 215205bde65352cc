-- Appends entries as append_entries does, for a program that keeps its history in entries of a custom kind and shows
-- the messages of that history on a lane. p_lane: {context_ref, last_seq, replace?}. `last_seq` is the last message or
-- replace of the lane as the caller knows it, -1 for none; if the lane has another one, nothing is written. With
-- `replace`, a result_context, the context of the lane is replaced by the entry before `first_seq`; the active lane
-- stays the same. Only a run on this lane prevents that, because runs on other lanes do not see it.
-- Repeating an op_id with the same hash returns the first answer. Returns {first_seq, rev, duplicate}. Raises LF005,
-- LF006, LF008, LF014 and LF023 for the lane, and what append_entries raises.
create or replace function lanefold.append_history(p_thread_id text, p_entries jsonb, p_lane jsonb, p_options jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_op constant text := p_options ->> 'op_id';
  v_ref constant text := p_lane ->> 'context_ref';
  v_last bigint;
  v_operation jsonb;
  v_problem text;
begin
  t := lanefold._lock_thread(p_thread_id);
  if exists (select from lanefold._append_receipt where thread_id = p_thread_id and op_id = v_op) then
    return lanefold.append_entries(p_thread_id, p_entries, p_options);
  end if;
  perform lanefold._check_id(v_ref, 'context_ref');
  perform lanefold._check_rev(t, (p_options ->> 'expected_rev')::bigint);
  v_last := lanefold._lane_end(p_thread_id, v_ref);
  if v_last is distinct from (p_lane ->> 'last_seq')::bigint then
    perform lanefold._fail('LF006', format('Lane %s of thread %s ends at entry %s, not %s.', v_ref, p_thread_id, v_last,
      p_lane ->> 'last_seq'), 'Read the lane again and retry.');
  end if;
  if p_lane ? 'replace' then
    select * into r from lanefold._run where thread_id = p_thread_id and id = t.active_run_id;
    if r.context_ref = v_ref then
      perform lanefold._fail('LF005', format('Run %s is active on lane %s of thread %s.', r.id, v_ref, p_thread_id),
        'Wait for the run to end, or use another lane.');
    end if;
    perform lanefold._check_messages(p_lane -> 'replace' -> 'entries', format('lane %s', v_ref));
    v_problem := lanefold._messages_problem(p_lane -> 'replace' -> 'entries');
    if v_problem is not null then
      perform lanefold._fail('LF008', format('The messages for lane %s do not form closed tool groups: %s.', v_ref, v_problem),
        'Send one tool message per call, in call order, right after the assistant message.');
    end if;
    v_operation := jsonb_build_object('type', 'replace', 'reason', 'system', 'result_context', p_lane -> 'replace');
    if pg_column_size(v_operation) > lanefold._max_context_bytes(p_options) then
      perform lanefold._fail('LF023', format('The context of lane %s of thread %s would have %s bytes, more than %s.', v_ref,
        p_thread_id, pg_column_size(v_operation), lanefold._max_context_bytes(p_options)), 'Nothing was written. Shorten the history.');
    end if;
    if p_options ? 'contents' then
      perform lanefold._store_contents(p_thread_id, t.tenant_id, p_options -> 'contents');
    end if;
    perform lanefold._write_operation(p_thread_id, v_op, v_ref, v_operation, coalesce(p_options ->> 'op_hash', ''), false);
  end if;
  return lanefold.append_entries(p_thread_id, p_entries, p_options - 'expected_rev');
end $$;

-- The seq of the last message or replace of a lane; -1 for none.
create or replace function lanefold._lane_end(p_thread_id text, p_context_ref text)
returns bigint language plpgsql stable as $$
declare
  v_message bigint;
  v_anchor bigint;
begin
  select max(e.seq) into v_message from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message';
  select max(e.seq) into v_anchor from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor;
  return greatest(v_message, v_anchor, -1::bigint);
end $$;
