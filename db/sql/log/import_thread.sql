-- Creates a thread from entries that were exported from another one, or converted from the history of another framework.
-- p: {tenant_id?, metadata?, active_context_ref?, max_context_bytes?, request_hash, entries: [{seq, kind, context_ref?, role?, op_id?,
-- op_hash?, append_key?, append_hash?, run_id?, request_id?, is_anchor?, payload, refs?, at?: default now, chain?}], contents: [{id, text}], runs:
-- [{id, status, …, tool_calls}], as columns of the views `run` and `run_tool_call`; lanes: [{context_ref, digest}], origin?: {thread_id, tenant_id}, facts}.
-- Entries are written as they are, after the checks that the other functions make: ids, messages, closed tool groups,
-- contexts of operations. If the last group of a lane is open, flagged error results close it. The last entry is a
-- `thread_import` with the facts. `lanes` are compared with the contexts of the new thread (lane_digest), and `chain` with
-- the chain that `origin` had. Repeating the call with the same request_hash returns the first answer.
-- Returns {id, rev, duplicate, repaired: [{seq, context_ref, tool_call_id}]}. Raises the errors of create_thread; LF007
-- another import under the id; LF008 an open tool group in the middle of a lane; LF014 a malformed entry; LF016; LF023 a context that is too large; LF032 if
-- the contexts or the chain differ from those of the export.
create or replace function lanefold.import_thread(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  v_at timestamptz;
  v_count constant bigint := jsonb_array_length(p -> 'entries')::bigint;
  v_repairs jsonb;
  v_active constant text := coalesce(p ->> 'active_context_ref', 'default');
  v_known text;
  v_rev bigint;
begin
  begin
    perform lanefold.create_thread(p_thread_id,
      jsonb_build_object('tenant_id', p -> 'tenant_id', 'metadata', coalesce(p -> 'metadata', '{}')));
  exception when sqlstate 'LF002' then
    -- callers' keys contain no slash; no row: the thread was not imported, or belongs to another tenant
    select r.hash into v_known from lanefold._append_receipt r where r.thread_id = p_thread_id and r.op_id = 'import/request';
    if v_known is null then
      raise;
    elsif v_known <> p ->> 'request_hash' then
      perform lanefold._fail('LF007', format('Thread %s was imported from something else.', p_thread_id), 'Use a new id for this import.');
    end if;
    return lanefold._import_receipt(p_thread_id, true);
  end;
  perform lanefold._check_id(v_active, 'context_ref');
  perform lanefold._check_depth(p -> 'entries', 'The list of entries');
  perform lanefold._check_imported(p -> 'entries', p -> 'origin');
  v_repairs := lanefold._import_repairs(p -> 'entries');
  v_at := lanefold._now();
  v_rev := v_count + jsonb_array_length(v_repairs) + 1;

  select * into t from lanefold.thread where id = p_thread_id;
  perform lanefold._store_contents(p_thread_id, t.tenant_id, p -> 'contents');
  insert into lanefold._entry
  select (lanefold._entry_of(p_thread_id, t.tenant_id, t.chained, n - 1, coalesce((e ->> 'at')::timestamptz, v_at), null, null, null, e)).*
  from jsonb_array_elements(p -> 'entries') with ordinality as x (e, n) order by n;
  perform lanefold._insert_entries(p_thread_id, v_count, v_at, v_repairs || jsonb_build_array(jsonb_build_object(
    'kind', 'thread_import', 'payload', coalesce(p -> 'facts', '{}'))), null);

  insert into lanefold._lane (thread_id, tenant_id, context_ref)
  select p_thread_id, t.tenant_id, l.context_ref from lanefold.lanes_from_log(p_thread_id) l;
  perform lanefold._note_branches(p_thread_id);
  insert into lanefold.context_op (thread_id, tenant_id, op_id, context_ref, type, reason, status, hash, entry_seq, created_at,
    settled_at)
  select p_thread_id, t.tenant_id, e ->> 'op_id', e ->> 'context_ref', e -> 'payload' -> 'operation' ->> 'type',
    coalesce(e -> 'payload' -> 'operation' ->> 'reason', 'system'), 'applied', coalesce(e ->> 'op_hash', ''), n - 1,
    coalesce((e ->> 'at')::timestamptz, v_at), coalesce((e ->> 'at')::timestamptz, v_at)
  from jsonb_array_elements(p -> 'entries') with ordinality as x (e, n) where e ->> 'kind' = 'ai_context_operation';
  insert into lanefold._append_receipt (thread_id, tenant_id, op_id, first_seq, hash)
  select p_thread_id, t.tenant_id, e ->> 'append_key', n - 1, coalesce(e ->> 'append_hash', '')
  from jsonb_array_elements(p -> 'entries') with ordinality as x (e, n) where e ->> 'append_key' is not null
  union all select p_thread_id, t.tenant_id, 'import/request', v_count, p ->> 'request_hash';
  perform lanefold._import_runs(p_thread_id, t.tenant_id, coalesce(p -> 'runs', '[]'), v_count);
  perform lanefold._count_imported(p_thread_id);
  update lanefold.thread
  set rev = v_rev, active_context_ref = v_active, updated_at = v_at, state = lanefold.thread_state_at(p_thread_id, v_rev),
      configured = exists (select from jsonb_array_elements(p -> 'entries') e
        where e ->> 'kind' = 'ai_config_change' and e -> 'payload' ->> 'field' <> 'system_prompt')
  where id = p_thread_id;
  perform lanefold._check_import(p_thread_id, p, v_count);
  return lanefold._import_receipt(p_thread_id, false);
end $$;

create or replace function lanefold._import_receipt(p_thread_id text, p_duplicate boolean)
returns jsonb language plpgsql stable as $$
declare
  v_first bigint;
  v_rev bigint;
  v_repaired jsonb;
begin
  select r.first_seq into v_first from lanefold._append_receipt r where r.thread_id = p_thread_id and r.op_id = 'import/request';
  select e.seq + 1 into v_rev from lanefold._entry e
  where e.thread_id = p_thread_id and e.seq >= v_first and e.kind = 'thread_import' order by e.seq limit 1;
  select coalesce(to_jsonb(array_agg(jsonb_build_object('seq', e.seq, 'context_ref', e.context_ref, 'tool_call_id', e.payload -> 'tool_call_id')
    order by e.seq)), '[]') into v_repaired
  from lanefold._entry e
  where e.thread_id = p_thread_id and e.seq >= v_first and e.seq < v_rev and e.kind = 'ai_message';
  return jsonb_build_object('id', p_thread_id, 'rev', v_rev, 'duplicate', p_duplicate, 'repaired', v_repaired);
end $$;

-- Raises LF014 or LF016 for an entry that no function would have written, and LF032 if the entries do not have the chain
-- that their thread had.
create or replace function lanefold._check_imported(p_entries jsonb, p_origin jsonb)
returns void language plpgsql stable as $$
declare
  x record;
  v_problem text;
  v_entry lanefold._entry;
  v_operation jsonb;
  v_before bytea := lanefold._chain_start(p_origin ->> 'thread_id');
begin
  for x in select e, n - 1 as seq from jsonb_array_elements(p_entries) with ordinality as l (e, n) order by n loop
    v_operation := x.e -> 'payload' -> 'operation';
    v_problem := case
      when jsonb_typeof(x.e) is distinct from 'object' then 'is not an object'
      when (x.e ->> 'seq') is distinct from x.seq::text then format('has the seq %s', coalesce(x.e ->> 'seq', '(none)'))
      when not coalesce(lanefold._is_id(x.e ->> 'kind'), false) then 'has no valid kind'
      when jsonb_typeof(x.e -> 'payload') is distinct from 'object' then 'has a payload that is not an object'
      when jsonb_typeof(coalesce(x.e -> 'refs', 'null')) not in ('object', 'null') then 'has refs that are not an object'
      when (x.e ->> 'kind' = 'ai_message') <> (x.e ->> 'role' is not null) then 'has a role, or lacks one'
      when (x.e ->> 'kind' = 'ai_context_operation') <> (x.e ->> 'op_id' is not null) then 'has an op_id, or lacks one'
      when x.e ->> 'kind' in ('ai_message', 'ai_context_operation') and x.e ->> 'context_ref' is null then 'has no context_ref'
      when coalesce((x.e -> 'is_anchor')::boolean, false)
        <> (x.e ->> 'kind' = 'ai_context_operation' and v_operation ->> 'type' is not distinct from 'replace') then
        'is an anchor, or is not one'
      when x.e ->> 'kind' = 'ai_context_operation' and coalesce(v_operation ->> 'type', '') not in ('replace', 'switch') then
        'has an operation that is neither replace nor switch'
      when x.e ->> 'kind' = 'ai_config_change' and not lanefold._is_logged_config(x.e -> 'payload') then
        format('sets the unknown field %s, or sets it to an invalid value', coalesce(x.e -> 'payload' ->> 'field', '(none)'))
      when x.e ->> 'kind' = 'ai_state_change' and jsonb_typeof(x.e -> 'payload' -> 'operations') is distinct from 'array' then
        'has no state operations'
      when x.e ->> 'kind' = 'feedback' and not (lanefold._is_feedback(x.e -> 'payload') and (x.e #>> '{payload,answer_seq}')::bigint < x.seq) then
        'is no feedback on an earlier entry'
      when (x.e -> 'is_anchor')::boolean and (jsonb_typeof(v_operation -> 'result_context' -> 'entries') is distinct from 'array'
        or jsonb_typeof(coalesce(v_operation -> 'result_context' -> 'system_prompt', 'null')) not in ('string', 'null')) then
        'has an operation without a valid result_context'
      when v_operation ->> 'reason' = 'branch' and (x.e -> 'is_anchor')::boolean and not lanefold._is_branch(v_operation #> '{meta,branch}', x.seq) then
        'branches from no entry before it'
    end;
    if v_problem is not null then
      perform lanefold._fail('LF014', format('Entry %s %s.', x.seq, v_problem), 'Nothing was imported. Correct the source, or export the thread again.');
    end if;
    perform lanefold._check_id(x.e ->> k, k) from unnest(array['context_ref', 'run_id', 'request_id', 'append_key']) k where x.e ->> k is not null;
    if (x.e -> 'is_anchor')::boolean then
      perform lanefold._check_lane(v_operation -> 'result_context' -> 'entries', false, format('the context of entry %s', x.seq));
    end if;
    if x.e ->> 'chain' is not null then
      v_entry := jsonb_populate_record(null::lanefold._entry, (x.e - array['chain', 'op_hash', 'append_key', 'append_hash', 'hash', 'refs', 'payload'])
        || jsonb_build_object('thread_id', p_origin -> 'thread_id', 'tenant_id', p_origin -> 'tenant_id'));
      v_entry.payload := x.e -> 'payload';
      v_entry.refs := nullif(x.e -> 'refs', 'null');
      v_before := lanefold._entry_hash(v_entry, v_before);
      if encode(v_before, 'hex') is distinct from x.e ->> 'chain' then
        perform lanefold._fail('LF032', format('Entry %s is not the entry that thread %s has in its chain.', x.seq, p_origin ->> 'thread_id'),
          'Nothing was imported. The export was changed; export the thread again.');
      end if;
    end if;
  end loop;
  if exists (select from jsonb_array_elements(p_entries) e where e ->> 'op_id' is not null group by e ->> 'op_id' having count(*) > 1)
    or exists (select from jsonb_array_elements(p_entries) e where e ->> 'append_key' is not null group by e ->> 'append_key'
      having count(*) > 1) then
    perform lanefold._fail('LF014', 'Two operations have the same op_id, or two appends the same key.', 'Nothing was imported. Correct the source, or export the thread again.');
  end if;
end $$;

-- Whether the payload of a configuration entry is one that change_config could have written: see _log_config_change.
create or replace function lanefold._is_logged_config(p jsonb)
returns boolean language sql immutable as $$
  select coalesce(case p ->> 'field'
    when 'system_prompt' then jsonb_typeof(p -> 'value') in ('string', 'null')
    when 'policy' then jsonb_typeof(p -> 'value') in ('object', 'string', 'null')
    when 'tool_context' then jsonb_typeof(p -> 'value') = 'object'
    when 'tools' then jsonb_typeof(p -> 'value') = 'object' and not exists (
      select from jsonb_each(p -> 'value') as e (k, v) where k not in ('added', 'removed') or jsonb_typeof(v) <> 'array'
        or jsonb_path_exists(case when jsonb_typeof(v) = 'array' then v else '[]' end, '$[*] ? (@.type() <> "string")'))
    end, false);
$$;

-- Raises LF008 or LF014 unless the messages may enter a lane. With p_open, only the last group may be open.
create or replace function lanefold._check_lane(p_messages jsonb, p_open boolean, p_what text)
returns void language plpgsql immutable as $$
declare
  v_bare jsonb;
  v_problem text;
begin
  -- refs of the runtime may be larger than those of callers
  select coalesce(to_jsonb(array_agg(m - 'refs' order by n)), '[]') into v_bare from jsonb_array_elements(p_messages) with ordinality as x (m, n);
  perform lanefold._check_messages(v_bare, p_what);
  v_problem := lanefold._messages_problem(v_bare);
  if v_problem is null then
    return;
  end if;
  if p_open and lanefold._messages_problem(v_bare, true) is null
    and (select to_jsonb(array_agg(m order by n)) from jsonb_array_elements(lanefold._repair_messages(v_bare)) with ordinality as x (m, n)
         where n <= jsonb_array_length(v_bare)) = v_bare then
    return;
  end if;
  perform lanefold._fail('LF008', format('The messages of %s do not form closed tool groups: %s.', p_what, v_problem),
    'Nothing was imported. Send one tool message per call, in call order, right after the assistant message.');
end $$;

-- Checks the messages of each lane, and returns drafts of the error results that close the last group of each.
create or replace function lanefold._import_repairs(p_entries jsonb)
returns jsonb language plpgsql stable as $$
declare
  g record;
  v_asked jsonb;
  v_repairs jsonb := '[]'::jsonb;
begin
  for g in
    select y.ref, y.segment, y.segment = max(y.segment) over (partition by y.ref) as is_last, y.messages
    from (
      select x.ref, x.segment, coalesce(to_jsonb(array_agg(x.e -> 'payload' || jsonb_build_object('role', x.e -> 'role',
          'run_id', x.e -> 'run_id', 'request_id', x.e -> 'request_id') order by x.n)
        filter (where x.e ->> 'kind' = 'ai_message')), '[]') as messages
      from (
        select e, n, e ->> 'context_ref' as ref,
               count(*) filter (where (e -> 'is_anchor')::boolean) over (partition by e ->> 'context_ref' order by n) as segment
        from jsonb_array_elements(p_entries) with ordinality as l (e, n)
        where e ->> 'kind' in ('ai_message', 'ai_context_operation')
      ) x
      group by x.ref, x.segment
    ) y
    order by y.ref, y.segment
  loop
    perform lanefold._check_lane(g.messages, g.is_last, format('lane %s', g.ref));
    if g.is_last then
      -- the results belong to the run that asked
      select m into v_asked from jsonb_array_elements(g.messages) with ordinality as x (m, n) where m ->> 'role' = 'assistant'
      order by n desc limit 1;
      select v_repairs || coalesce(to_jsonb(array_agg(lanefold._message_draft(m) || jsonb_build_object('context_ref', g.ref,
        'run_id', v_asked -> 'run_id', 'request_id', v_asked -> 'request_id') order by n)), '[]')
      into v_repairs
      from jsonb_array_elements(lanefold._repair_messages(g.messages)) with ordinality as x (m, n) where n > jsonb_array_length(g.messages);
    end if;
  end loop;
  return v_repairs;
end $$;

-- Writes the runs of an export with their ledgers. Of their events, only the last ones are written. A run that had not ended
-- is cancelled, and its calls without a result are abandoned.
create or replace function lanefold._import_runs(p_thread_id text, p_tenant_id text, p_runs jsonb, p_rev bigint)
returns void language plpgsql as $$
declare
  r jsonb;
  c jsonb;
  v_run lanefold._run;
  b lanefold._event_batch;
  v_at constant timestamptz := lanefold._now();
  v_events bigint := 0::bigint;
  v_results bigint[];
  v_next int[];
  v_last int[];
  v_result int;
  v_unfinished constant jsonb := jsonb_build_object('status', 'cancelled', 'termination_reason', 'cancelled', 'result', null,
    'finished_at', v_at, 'error', jsonb_build_object('type', 'cancelled', 'message', 'The run had not ended when its thread was exported.'));
begin
  -- a call without a result has the one that closed its group: the results by lane, and for each entry the place of the next one
  -- on its lane and of the last one
  select array_agg(e.seq order by e.context_ref, e.seq) into v_results from lanefold._entry e
  where e.thread_id = p_thread_id and e.role = 'tool';
  select array_agg(x.earlier + 1 order by x.seq), array_agg(x.last order by x.seq) into v_next, v_last
  from (
    select e.seq, (count(*) filter (where e.role = 'tool') over (order by e.context_ref, e.seq))::int as earlier,
           (count(*) filter (where e.role = 'tool') over (order by e.context_ref))::int as last
    from lanefold._entry e where e.thread_id = p_thread_id
  ) x;
  for r in select value from jsonb_array_elements(p_runs) loop
    if r ->> 'finished_at' is null then
      r := r || v_unfinished;
    end if;
    perform lanefold._check_id(r ->> k, k) from unnest(array['id', 'context_ref', 'request_id']) k;
    if coalesce(r ->> 'status', '') not in ('completed', 'failed', 'cancelled') or coalesce(r ->> 'agent', '') = ''
      or coalesce(r ->> 'strategy', '') = '' or coalesce(r ->> 'model', '') = '' or (r ->> 'user_seq')::bigint >= p_rev
      or (r ->> 'result_seq')::bigint >= p_rev or coalesce(r ->> 'request_hash', '') !~ '^([0-9a-f]{2})*$'
      or exists (select from lanefold._run x where x.thread_id = p_thread_id
        and (x.id in (r ->> 'id', r ->> 'request_id') or x.request_id in (r ->> 'id', r ->> 'request_id'))) then
      perform lanefold._fail('LF014', format('Run %s is malformed, or its id or request_id is taken.', r ->> 'id'),
        'Nothing was imported. Correct the source, or export the thread again.');
    end if;
    -- nothing else that the file says of a run becomes part of a request
    select * into v_run from lanefold._run_of(p_thread_id, p_tenant_id, r ->> 'context_ref', (r ->> 'created_at')::timestamptz,
      jsonb_build_object('run_id', r -> 'id', 'request_id', r -> 'request_id', 'request_hash', coalesce(r ->> 'request_hash', ''),
        'agent', r -> 'agent', 'strategy', r -> 'strategy', 'model', r -> 'model'));
    v_run.enqueue_no := 0;
    v_run.enqueued_at := null;
    v_run.ready_at := null;
    v_run.active := false;
    v_run.status := r ->> 'status';
    v_run.termination_reason := r ->> 'termination_reason';
    v_run.finish_reason := r ->> 'finish_reason';
    v_run.started_at := (r ->> 'started_at')::timestamptz;
    v_run.finished_at := (r ->> 'finished_at')::timestamptz;
    v_run.step := coalesce((r ->> 'step')::int, 0);
    v_run.iteration := coalesce((r ->> 'iteration')::int, 0);
    v_run.usage := nullif(r -> 'usage', 'null');
    v_run.other_usage := nullif(r -> 'other_usage', 'null');
    v_run.error := nullif(r -> 'error', 'null');
    v_run.user_seq := (r ->> 'user_seq')::bigint;
    if v_run.started_at is not null and v_run.user_seq is null then
      -- it answered an earlier question, or compacted its lane
      v_run.options := '{"continues": true}';
    end if;
    v_run.result_seq := (r ->> 'result_seq')::bigint;
    v_run.result := case when v_run.result_seq is null then nullif(r -> 'result', 'null') end;
    v_run.answered := lanefold._is_answered(v_run.status, v_run.termination_reason, v_run.result_seq is not null or v_run.result is not null);
    v_run.trace_truncated := true;
    v_run.event_count := 2;
    v_run.first_event_seq := v_events;
    v_run.last_event_seq := v_events + 1;
    insert into lanefold._run values (v_run.*);
    b := lanefold._event_batch_of(p_thread_id, p_tenant_id, v_events, v_run.id, 1, v_run.finished_at, p_rev,
      lanefold._terminal_events(v_run.status, v_run.termination_reason, v_run.iteration, v_run.error, v_run.result_seq,
        v_run.result));
    insert into lanefold._event_batch values (b.*);
    v_events := v_events + 2;
    for c in select value from jsonb_array_elements(coalesce(r -> 'tool_calls', '[]')) loop
      if coalesce((c ->> 'call_seq')::bigint >= p_rev, true) or (c ->> 'result_seq')::bigint >= p_rev
        or coalesce(c ->> 'status', '') not in ('pending', 'awaiting_approval', 'started', 'waiting', 'ok', 'error', 'unknown', 'denied', 'abandoned') then
        perform lanefold._fail('LF014', format('A tool call of run %s is malformed.', r ->> 'id'), 'Nothing was imported. Correct the source, or export the thread again.');
      end if;
      v_result := v_next[(c ->> 'call_seq')::int + 1] + (c ->> 'call_index')::smallint;
      insert into lanefold._tool_call (thread_id, tenant_id, run_id, round, call_index, tool_call_id, name, status, attempts,
        duration_ms, call_seq, result_seq, started_at, finished_at, approval)
      values (p_thread_id, p_tenant_id, r ->> 'id', (c ->> 'round')::int, (c ->> 'call_index')::smallint, c ->> 'tool_call_id',
        c ->> 'name', case when c ->> 'result_seq' is null then 'abandoned' else c ->> 'status' end, coalesce((c ->> 'attempts')::smallint, 0),
        (c ->> 'duration_ms')::int, (c ->> 'call_seq')::bigint,
        coalesce((c ->> 'result_seq')::bigint, case when v_result <= v_last[(c ->> 'call_seq')::int + 1] then v_results[v_result] end),
        (c ->> 'started_at')::timestamptz, (c ->> 'finished_at')::timestamptz, nullif(c -> 'approval', 'null'));
    end loop;
    perform lanefold._note_marks(p_thread_id, v_run.id);
  end loop;
  update lanefold.thread set event_rev = v_events, altered = true where id = p_thread_id;
end $$;

-- Raises LF014 for a text that is quoted but was not imported, LF023 for a context that is too large, and LF032 for one that
-- differs from the exported one.
create or replace function lanefold._check_import(p_thread_id text, p jsonb, p_rev bigint)
returns void language plpgsql stable as $$
declare
  l record;
  v_seq bigint;
begin
  -- each text is read once, however many entries quote it
  with quoted as materialized (
    select q as id, min(e.seq) as seq from lanefold._entry e cross join lateral lanefold._quoted(e.kind, e.payload, e.refs) q
    where e.thread_id = p_thread_id and e.kind in ('ai_message', 'ai_context_operation') group by q
  )
  select min(x.seq) into v_seq from quoted x where not lanefold._content_whole(p_thread_id, x.id);
  if v_seq is not null then
    perform lanefold._fail('LF014', format('Entry %s quotes a large text that was not imported, or that does not have its id.', v_seq),
      'Nothing was imported. Correct the source, or export the thread again.');
  end if;
  for l in select context_ref as ref from lanefold._lane where thread_id = p_thread_id loop
    perform lanefold._check_context(p_thread_id, l.ref, 0, p);
  end loop;
  for l in select distinct x ->> 'context_ref' as ref, x ->> 'digest' as digest from jsonb_array_elements(coalesce(p -> 'lanes', '[]')) x loop
    if lanefold.lane_digest(p_thread_id, l.ref, p_rev - 1) is distinct from l.digest then
      perform lanefold._fail('LF032', format('The context of lane %s differs from the exported one.', l.ref),
        'Nothing was imported. Import it with the version of Lanefold that exported it, and report this.');
    end if;
  end loop;
end $$;
