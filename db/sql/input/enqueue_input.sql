-- Queues steer or inject input for the active run. p: {id, kind: steer|inject, by, content, refs?,
-- expected_request_id?, expected_run_id?, max_context_bytes?, contents?}. The content is text or a list of content
-- parts.
-- Returns {status: queued, input_id, run_id, request_id}. Repeating an id returns the current status of that input,
-- with duplicate: true. Raises LF007 for another body under the id, LF011 for an expected run that does not exist,
-- LF014 for refs that are too large, LF023 for a context that would be too large, and what _check_input raises.
create or replace function lanefold.enqueue_input(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_parts constant jsonb := case when jsonb_typeof(p -> 'content') = 'array' then p -> 'content' end;
  v_content constant text := case when v_parts is null then btrim(p ->> 'content', E' \t\r\n') else lanefold._text_of(v_parts) end;
  v_bytes constant int := octet_length(coalesce(v_parts::text, v_content)) + coalesce(pg_column_size(p -> 'refs'), 0);
  v_queued bigint;
  v_known record;
  v_at timestamptz;
begin
  t := lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select status, run_id, (kind, by, content, run_id)
      = (p ->> 'kind', p ->> 'by', v_content, coalesce(p ->> 'expected_run_id', run_id))
    and parts is not distinct from v_parts as same
  into v_known from lanefold.pending_input where thread_id = p_thread_id and id = p ->> 'id';
  if found then
    if v_known.same is not true then
      perform lanefold._fail('LF007', format('Input %s was accepted with another body.', p ->> 'id'), 'Use a new id for new input.');
    end if;
    return jsonb_build_object('status', v_known.status, 'input_id', p ->> 'id', 'run_id', v_known.run_id, 'duplicate', true);
  end if;
  select * into r from lanefold._run where thread_id = p_thread_id and id = t.active_run_id;
  if p ->> 'expected_run_id' <> coalesce(r.id, '')
     and not exists (select from lanefold._run k where k.thread_id = p_thread_id and k.id = p ->> 'expected_run_id') then
    perform lanefold._fail_no_run(p_thread_id, p ->> 'expected_run_id');
  end if;
  v_queued := lanefold._queued_bytes(p_thread_id, r.id, coalesce(r.queued_inputs, 0));
  perform lanefold._check_input(p_thread_id, r, p, v_content, v_parts, v_bytes, v_queued);
  perform lanefold._check_small_json(p -> 'refs', 'refs', format('Input %s', p ->> 'id'));
  perform lanefold._check_context(p_thread_id, r.context_ref, lanefold._input_bytes(r.input) + v_bytes + v_queued, p);
  insert into lanefold.pending_input (thread_id, tenant_id, run_id, ordinal, id, kind, by, content, parts, refs, status,
    created_at)
  select p_thread_id, t.tenant_id, r.id, coalesce(max(ordinal), 0) + 1, p ->> 'id', p ->> 'kind', p ->> 'by', v_content, v_parts, nullif(p -> 'refs', 'null'),
         'queued', v_at
  from lanefold.pending_input where thread_id = p_thread_id and run_id = r.id;
  if p ? 'contents' then
    perform lanefold._store_contents(p_thread_id, t.tenant_id, p -> 'contents');
  end if;
  update lanefold._run set queued_inputs = queued_inputs + 1 where thread_id = p_thread_id and id = r.id;
  return jsonb_build_object('status', 'queued', 'input_id', p ->> 'id', 'run_id', r.id,
    'request_id', coalesce(r.request_id, r.id));
end $$;

-- The text of content parts, one line per part.
create or replace function lanefold._text_of(p_parts jsonb)
returns text language sql immutable as $$
  select coalesce(string_agg(x.part ->> 'text', E'\n' order by x.n), '')
  from jsonb_array_elements(p_parts) with ordinality as x (part, n) where x.part ->> 'type' = 'text';
$$;
