-- Notes what a person thinks of an answer, as an entry of the kind `feedback` on the lane of the answer. The last word of a person
-- about an answer counts; earlier entries stay in the log.
-- p: {answer_seq: an assistant message, or run_id: its last one; rating?: up|down, comment?, by?, op_id?, op_hash?}; without rating
-- and comment, the person takes back an earlier opinion. Repeating an op_id with the same hash returns the first answer.
-- Returns {seq, answer_seq, run_id, duplicate}. Raises LF001, LF003, LF007 another body under the op_id, LF014 no such answer.
create or replace function lanefold.give_feedback(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  v_answer lanefold._entry;
  v_known bigint;
  v_at timestamptz;
begin
  t := lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  if p ->> 'op_id' is not null then
    v_known := lanefold._known_receipt(p_thread_id, p ->> 'op_id', coalesce(p ->> 'op_hash', ''));
    if v_known is not null then
      return (select jsonb_build_object('seq', e.seq, 'answer_seq', e.payload -> 'answer_seq', 'run_id', e.payload -> 'run_id', 'duplicate', true)
        from lanefold._entry e where e.thread_id = p_thread_id and e.seq = v_known);
    end if;
  end if;
  select * into v_answer from lanefold._entry e
  where e.thread_id = p_thread_id and e.kind = 'ai_message' and e.role = 'assistant'
    and e.seq = coalesce((p ->> 'answer_seq')::bigint, (
      select max(a.seq) from lanefold._run r join lanefold._entry a on a.thread_id = p_thread_id and a.context_ref = r.context_ref
      where r.thread_id = p_thread_id and r.id = p ->> 'run_id' and a.kind = 'ai_message' and a.role = 'assistant' and a.run_id = r.id));
  if v_answer.seq is null then
    perform lanefold._fail('LF014', format('Thread %s has no answer %s.', p_thread_id,
        coalesce('at entry ' || (p ->> 'answer_seq'), 'of run ' || (p ->> 'run_id'))),
      'Nothing was written. Name the seq of a message of the assistant, or a run that has answered.');
  end if;
  if p ->> 'op_id' is not null then
    insert into lanefold._append_receipt (thread_id, tenant_id, op_id, first_seq, hash)
    values (p_thread_id, t.tenant_id, p ->> 'op_id', t.rev, coalesce(p ->> 'op_hash', ''));
  end if;
  perform lanefold._insert_entries(p_thread_id, t.rev, v_at, jsonb_build_array(jsonb_build_object('kind', 'feedback',
    'context_ref', v_answer.context_ref, 'payload', jsonb_strip_nulls(jsonb_build_object('answer_seq', v_answer.seq, 'run_id', v_answer.run_id,
      'rating', p -> 'rating', 'comment', p -> 'comment', 'by', p -> 'by')))), null);
  update lanefold.thread set rev = t.rev + 1, updated_at = v_at where id = p_thread_id;
  if v_answer.run_id is not null then
    delete from lanefold._run_mark m where m.thread_id = p_thread_id and m.run_id = v_answer.run_id and m.kind in ('liked', 'disliked');
    perform lanefold._note_marks(p_thread_id, v_answer.run_id);
  end if;
  return jsonb_build_object('seq', t.rev, 'answer_seq', v_answer.seq, 'run_id', v_answer.run_id, 'duplicate', false);
end $$;

-- Whether the payload of a feedback entry is one that give_feedback could have written.
create or replace function lanefold._is_feedback(p jsonb)
returns boolean language sql immutable parallel safe as $$
  select coalesce(p ->> 'answer_seq' ~ '^[0-9]{1,15}$' and jsonb_typeof(p -> 'answer_seq') = 'number'
    and coalesce(p ->> 'rating', 'up') in ('up', 'down')
    and not exists (select from jsonb_each(p) as f (k, v)
      where k not in ('answer_seq', 'run_id', 'rating', 'comment', 'by') or k <> 'answer_seq' and jsonb_typeof(v) <> 'string'), false);
$$;
