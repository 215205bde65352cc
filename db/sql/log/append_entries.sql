-- Appends entries of a caller: messages (closed groups, on a lane without an active run) and entries of custom kinds.
-- p_entries: [{kind?: default note, context_ref?, payload?, refs?}]; p_options: {expected_rev?, op_id?, op_hash?,
-- repair?, max_context_bytes?, contents?: see _store_contents}. Repeating an op_id with the same hash returns the
-- first answer.
-- Returns {first_seq, rev, duplicate}. Raises LF005 lane busy, LF006 another rev, LF007 another body under the op_id,
-- LF008 open tool groups, LF009 reserved kind, LF014 malformed message or refs, LF016 bad context_ref, LF023 context
-- too large.
create or replace function lanefold.append_entries(p_thread_id text, p_entries jsonb, p_options jsonb default '{}')
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  e record;
  v_drafts jsonb := '[]'::jsonb;
  v_messages jsonb;
  v_problem text;
  v_at timestamptz;
  v_first bigint;
  v_op constant text := p_options ->> 'op_id';
  v_op_hash constant text := coalesce(p_options ->> 'op_hash', '');
  v_repair constant boolean := coalesce((p_options -> 'repair')::boolean, false);
begin
  t := lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  if v_op is not null then
    v_first := lanefold._known_receipt(p_thread_id, v_op, v_op_hash);
    if v_first is not null then
      return jsonb_build_object('first_seq', v_first, 'rev', t.rev, 'duplicate', true);
    end if;
  end if;
  perform lanefold._check_rev(t, (p_options ->> 'expected_rev')::bigint);
  perform lanefold._check_depth(p_entries, 'The list of entries');
  perform lanefold._check_small_json(x.e -> 'refs', 'refs', format('Entry %s', x.n - 1))
  from jsonb_array_elements(p_entries) with ordinality as x (e, n);
  select * into r from lanefold._run where thread_id = p_thread_id and id = t.active_run_id;

  -- the caller chooses the order between lanes; the rules apply within each lane
  for e in
    select coalesce(x.e ->> 'context_ref', 'default') as ref,
           to_jsonb(array_agg(x.e -> 'payload' || jsonb_build_object('refs', x.e -> 'refs') order by n)) as messages
    from jsonb_array_elements(p_entries) with ordinality as x (e, n)
    where x.e ->> 'kind' = 'ai_message'
    group by 1
  loop
    perform lanefold._check_id(e.ref, 'context_ref');
    if r.context_ref = e.ref then
      perform lanefold._fail('LF005', format('Run %s is active on lane %s of thread %s.', r.id, e.ref, p_thread_id),
        'Wait for the run to end, steer it, or append to another lane.');
    end if;
    v_messages := e.messages;
    perform lanefold._check_context(p_thread_id, e.ref, pg_column_size(v_messages), p_options);
    perform lanefold._check_messages(v_messages, format('lane %s', e.ref));
    v_problem := lanefold._messages_problem(v_messages, v_repair);
    if v_problem is not null then
      perform lanefold._fail('LF008', format('The messages for lane %s do not form closed tool groups: %s.', e.ref, v_problem),
        'Send one tool message per call, in call order, right after the assistant message; or pass repair: true.');
    end if;
  end loop;
  if exists (select from jsonb_array_elements(p_entries) x (e)
             where x.e ->> 'kind' in ('ai_context_operation', 'ai_config_change', 'ai_state_change', 'thread_import', 'feedback', '')) then
    perform lanefold._fail('LF009', 'An entry has a reserved or empty kind.',
      'Operations, configuration, state and feedback have their own calls; use ai_message or a kind of your own.');
  end if;
  if exists (select from jsonb_array_elements(p_entries) x (e) where jsonb_typeof(x.e) <> 'object') then
    perform lanefold._fail('LF014', 'An entry is not an object.', 'Nothing was written. Pass {kind, payload} for each entry.');
  end if;

  if v_repair then
    -- a repair keeps the messages of one lane together; entries of other kinds keep their places between them
    select coalesce(to_jsonb(array_agg(d order by n, k)), '[]') into v_drafts from (
      select x.n, m.k, lanefold._message_draft(m.m) || jsonb_build_object('context_ref', x.ref) as d
      from (select coalesce(x.e ->> 'context_ref', 'default') as ref, min(n) as n,
                   to_jsonb(array_agg(x.e -> 'payload' || jsonb_build_object('refs', x.e -> 'refs') order by n)) as messages
            from jsonb_array_elements(p_entries) with ordinality as x (e, n)
            where x.e ->> 'kind' = 'ai_message' group by 1) x
      cross join lateral jsonb_array_elements(lanefold._repair_messages(x.messages)) with ordinality as m (m, k)
      union all
      select x.n, 0, lanefold._own_draft(x.e)
      from jsonb_array_elements(p_entries) with ordinality as x (e, n) where x.e ->> 'kind' is distinct from 'ai_message'
    ) y;
  else
    select coalesce(to_jsonb(array_agg(case when x.e ->> 'kind' = 'ai_message'
      then lanefold._message_draft(x.e -> 'payload' || jsonb_build_object('refs', x.e -> 'refs'))
           || jsonb_build_object('context_ref', coalesce(x.e ->> 'context_ref', 'default'))
      else lanefold._own_draft(x.e) end order by n)), '[]') into v_drafts
    from jsonb_array_elements(p_entries) with ordinality as x (e, n);
  end if;
  if jsonb_array_length(v_drafts) = 0 then
    return jsonb_build_object('first_seq', t.rev, 'rev', t.rev, 'duplicate', false);
  end if;
  v_first := t.rev;
  if v_op is not null then
    insert into lanefold._append_receipt (thread_id, tenant_id, op_id, first_seq, hash)
    values (p_thread_id, t.tenant_id, v_op, v_first, v_op_hash);
  end if;
  if p_options ? 'contents' then
    perform lanefold._store_contents(p_thread_id, t.tenant_id, p_options -> 'contents');
  end if;
  perform lanefold._insert_entries(p_thread_id, v_first, v_at, v_drafts, null);
  perform lanefold._touch_lane(p_thread_id, x.ref)
  from (select distinct d ->> 'context_ref' as ref from jsonb_array_elements(v_drafts) d where d ? 'role') x;
  update lanefold.thread set rev = v_first + jsonb_array_length(v_drafts), updated_at = v_at where id = p_thread_id;
  return jsonb_build_object('first_seq', v_first, 'rev', v_first + jsonb_array_length(v_drafts), 'duplicate', false);
end $$;
