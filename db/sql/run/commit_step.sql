-- Commits one step of a run; called by its lease holder. p_step is the step the worker believes the run is at: a lower
-- one returns the stored outcome and writes nothing (the acknowledgement was lost), the same one is applied, a higher
-- one raises.
--
-- A step with `finish` ends the run: see _complete_run for its terminal status and events, and _after_finish for what
-- follows. All other ends of a run are written by finish_run.
--
-- p: {entries?: drafts, events?: before and then_events?: after drained input, state, iteration, usage?,
-- other_usage?: the part of usage spent on models other than the run's, by model,
-- calls?: new ledger rows [{index, id, name, status?}], round?, calls_at?: offset of the entry that makes them,
-- default 0,
-- lanes?: names of lanes that entries of this step open, nodes?: see _write_nodes, contents?: see _store_contents,
-- outcomes?: of the round that ends, one per call {status, attempts, duration_ms}, outcomes_round?: its number if
-- `calls` start the next round, results_at?: offset of its first tool message,
-- effects?: on the thread's state, of the round that ends, in call order, drain?: boolean,
-- finish?: {status, reason, finish_reason?: of the model for the last answer, result?, shown?: the result as its event may quote it, error?, events?, output?},
-- seal?: boolean, closes the input queue while the run continues,
-- continue?: {state, iteration, events} in place of finish or seal if input waits,
-- handoff?: {agent, model, prompt, from, options, other_usage?: with the earlier model}: gives the run to another agent, which a worker claims it for;
-- writes nothing if the run is to be cancelled, because the step tells of the handoff,
-- resumed?: boolean, the step only resumes the run and does not count as progress,
-- max_events?: length of the trace at which droppable events are left out, default 2000,
-- awaited?: boolean, a client waits for the run; in a batch, the call says so instead}.
-- Returns {step, finished, status, cancel_requested, seq?: of the first entry, inputs?: [{seq, content, refs}],
-- job?: of a run that was handed over, promoted?, run?: as read_run returns it, if the run ended and is awaited,
-- deliveries?: of webhooks are due}. Raises LF012 for a worker that no longer
-- holds the run, LF013 for a step too high, LF014 for a state above 64 KB.
create or replace function lanefold.commit_step(p_thread_id text, p_run_id text, p_lease bigint, p_step int, p_lease_ms int, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_out jsonb;
begin
  v_out := lanefold._commit_step(p_thread_id, lanefold._await_thread(p_thread_id), p_run_id, p_lease, p_step, p_lease_ms, p);
  if p ? 'awaited' and (v_out -> 'finished')::boolean then
    v_out := v_out || jsonb_build_object('run', lanefold.read_run(p_thread_id, p_run_id));
  end if;
  return v_out;
end $$;

-- commit_step, for a caller that holds the lock of the thread and has its row `t`.
create or replace function lanefold._commit_step(
  p_thread_id text, t lanefold.thread, p_run_id text, p_lease bigint, p_step int, p_lease_ms int, p jsonb
) returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
  v_until timestamptz;
  v_first bigint;
  v_next bigint;       -- seq of the next entry
  v_entries constant int := coalesce(jsonb_array_length(p -> 'entries'), 0);
  v_events jsonb := coalesce(p -> 'events', '[]');
  v_finish jsonb := p -> 'finish';
  v_state jsonb := p -> 'state';
  v_iteration int := (p ->> 'iteration')::int;
  v_inputs jsonb;
  v_list jsonb;        -- of entries, calls or outcomes
  v_one jsonb;
  v_round int;
  v_then jsonb;
  v_continued boolean := false;
  v_hands constant boolean := p ? 'handoff';
  v_prompt record;
  v_end record;
  v_status text;
  v_reason text;
  v_result_seq bigint;
  v_out jsonb;
begin
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  v_at := lanefold._now();
  if r.lease is distinct from p_lease or (r.status <> 'running' and p_step >= r.step) then
    perform lanefold._fail_not_held(p_run_id, p_lease);
  elsif p_step < r.step then
    return jsonb_build_object('step', r.step) || coalesce(r.last_commit, '{}')
      || jsonb_build_object('duplicate', true, 'status', r.status, 'finished', r.finished_at is not null,
           'cancel_requested', r.cancel_requested_at is not null)
      || lanefold._first_seq(p_thread_id, r.context_ref, coalesce(p -> 'entries', '[]'),
           jsonb_array_length(coalesce(r.last_commit -> 'inputs', '[]')))
      || case when r.finished_at is not null then lanefold._promoted(p_thread_id) else '{}' end;
  elsif p_step > r.step then
    perform lanefold._fail('LF013', format('Run %s is at step %s, not %s.', p_run_id, r.step, p_step),
      'Nothing was written. A failover lost the last steps; drop the run.');
  end if;

  if pg_column_size(v_state) > 65536 then
    perform lanefold._fail('LF014', format('The state of run %s has %s bytes; the limit is 65536.', p_run_id, pg_column_size(v_state)),
      'Keep only bookkeeping in the state of a strategy, and text in the log.');
  end if;

  if v_hands and r.cancel_requested_at is not null then
    return jsonb_build_object('step', r.step, 'status', r.status, 'cancel_requested', true);
  end if;

  v_first := t.rev;
  v_next := v_first + v_entries;
  if v_entries > 0 then
    -- row by row, because Citus replans an insert from a query on every call and copies its rows
    v_list := p -> 'entries';
    for n in 0 .. v_entries - 1 loop
      v_one := v_list -> n;
      insert into lanefold._entry (thread_id, tenant_id, seq, at, kind, context_ref, role, run_id, request_id, payload, refs, bytes,
        hash)
      values (p_thread_id, t.tenant_id, v_first + n, v_at, coalesce(v_one ->> 'kind', 'ai_message'),
        coalesce(v_one ->> 'context_ref', r.context_ref), v_one ->> 'role', p_run_id, nullif(r.request_id, p_run_id),
        v_one -> 'payload', v_one -> 'refs',
        pg_column_size(v_one -> 'payload') + pg_column_size(coalesce(v_one -> 'refs', '{}')), case when t.chained then ''::bytea end);
    end loop;
  end if;
  if p ? 'contents' then
    perform lanefold._store_contents(p_thread_id, t.tenant_id, p -> 'contents');
  end if;
  if p ? 'nodes' then
    perform lanefold._write_nodes(p_thread_id, t.tenant_id, p_run_id, p -> 'nodes');
  end if;
  if p ? 'lanes' then
    insert into lanefold._lane (thread_id, tenant_id, context_ref)
    select p_thread_id, t.tenant_id, c from jsonb_array_elements_text(p -> 'lanes') c
    on conflict (thread_id, context_ref) do nothing;
  end if;
  if p ? 'calls' then
    v_list := p -> 'calls';
    for n in 0 .. jsonb_array_length(v_list) - 1 loop
      v_one := v_list -> n;
      insert into lanefold._tool_call (thread_id, tenant_id, run_id, round, call_index, tool_call_id, name, status, call_seq)
      values (p_thread_id, t.tenant_id, p_run_id, (p ->> 'round')::int, (v_one ->> 'index')::smallint, v_one ->> 'id', v_one ->> 'name',
        coalesce(v_one ->> 'status', 'pending'), v_first + coalesce((p ->> 'calls_at')::int, 0));
    end loop;
  end if;
  if p ? 'outcomes' then
    v_round := coalesce(p -> 'outcomes_round', p -> 'round')::int;
    v_list := p -> 'outcomes';
    for n in 0 .. jsonb_array_length(v_list) - 1 loop
      v_one := v_list -> n;
      update lanefold._tool_call
      set status = v_one ->> 'status', attempts = (v_one ->> 'attempts')::smallint, duration_ms = (v_one ->> 'duration_ms')::int,
          outcome = null, finished_at = coalesce(finished_at, v_at), result_seq = v_first + (p ->> 'results_at')::int + call_index
      where thread_id = p_thread_id and run_id = p_run_id and round = v_round and call_index = n;
    end loop;
    if p ? 'effects' then
      perform lanefold._write_effects(p_thread_id, v_next, v_at, p_run_id, r.request_id, r.iteration, p -> 'effects');
      v_next := v_next + 1;
    end if;
  end if;

  if p ? 'compact' and r.cancel_requested_at is null
    and lanefold._write_compaction(p_thread_id, r, v_next, v_at, p -> 'compact') then
    v_next := v_next + 1;
  end if;

  if v_hands then
    v_prompt := lanefold._adopt_agent_prompt(p_thread_id, r.context_ref, v_next, v_at, p #>> '{handoff,agent}', p -> 'handoff');
    v_next := v_next + v_prompt.written;
    v_events := v_events || jsonb_build_array(jsonb_build_object('k', 'handed_over', 'i', r.iteration,
      'd', jsonb_build_object('from', p #> '{handoff,from}', 'to', p #> '{handoff,agent}')));
  end if;

  if p ? 'continue' and r.queued_inputs > 0 and r.cancel_requested_at is null then
    v_continued := true;
    v_finish := null;
    v_state := p -> 'continue' -> 'state';
    v_iteration := (p -> 'continue' ->> 'iteration')::int;
  end if;
  if v_finish is null and r.queued_inputs > 0 and ((p -> 'drain')::boolean or v_continued) then
    select inputs, v_events || events into v_inputs, v_events
    from lanefold._drain_inputs(p_thread_id, p_run_id, v_next, v_at, r.context_ref, r.request_id, r.iteration);
    v_next := v_next + jsonb_array_length(v_inputs);
    r.queued_inputs := 0;
  end if;
  if v_finish is null then
    v_then := coalesce(case when v_continued then p -> 'continue' -> 'events' else p -> 'then_events' end, '[]');
    if v_inputs is not null then
      -- the worker's count of messages does not include these inputs
      select coalesce(to_jsonb(array_agg(case when e ? 'm'
        then jsonb_set(e, '{m}', to_jsonb((e -> 'm')::int + jsonb_array_length(v_inputs))) else e end order by n)), '[]')
      into v_then from jsonb_array_elements(v_then) with ordinality as x (e, n);
    end if;
    v_events := v_events || v_then;
    v_status := 'running';
    v_until := v_at + p_lease_ms * interval '1 ms';
  else
    v_end := lanefold._complete_run(v_finish, v_iteration, v_first + v_entries - 1,
      r.cancel_requested_at is not null, r.cancel_reason);
    v_status := v_end.status;
    v_reason := v_end.reason;
    v_result_seq := v_end.result_seq;
    v_finish := v_end.finish;
    v_events := v_events || v_end.events;
  end if;

  if r.event_count + jsonb_array_length(v_events) > lanefold._max_events(p) then
    v_events := lanefold._trim_events(p_thread_id, p_run_id, v_events, lanefold._max_events(p) - r.event_count);
  end if;
  if jsonb_array_length(v_events) > 0 then
    insert into lanefold._event_batch (thread_id, tenant_id, event_seq, run_id, seq, at, entry_seq, events)
    values (p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at, v_first, v_events::json);
  end if;
  v_out := jsonb_build_object('step', p_step + 1, 'status', v_status);
  if v_entries > 0 then
    v_out := v_out || jsonb_build_object('seq', v_first);
  end if;
  if v_inputs is not null then
    v_out := v_out || jsonb_build_object('inputs', v_inputs);
  end if;
  if v_continued then
    v_out := v_out || '{"continued": true}';
  end if;
  if v_finish is null then
    update lanefold._run
    set step = p_step + 1, iteration = v_iteration, usage = coalesce(p -> 'usage', usage),
        other_usage = coalesce(p -> 'other_usage', other_usage), status = 'running',
        state = v_state, lease_until = v_until, claims_without_progress = case when p ? 'resumed' then claims_without_progress else 0 end,
        event_count = event_count + jsonb_array_length(v_events), queued_inputs = r.queued_inputs,
        -- for a retry after a lost acknowledgement, only if the row alone cannot answer it
        last_commit = case when v_inputs is not null then v_out end,
        sealed_at = case when p ? 'seal' and not v_continued then coalesce(sealed_at, v_at) else sealed_at end
    where thread_id = p_thread_id and id = p_run_id;
  else
    update lanefold._run
    set step = p_step + 1, iteration = v_iteration, usage = coalesce(p -> 'usage', usage),
        other_usage = coalesce(p -> 'other_usage', other_usage), status = v_status, active = false,
        state = null, lease_until = null, claims_without_progress = 0, last_commit = null,
        event_count = event_count + jsonb_array_length(v_events),
        last_event_seq = t.event_rev + jsonb_array_length(v_events) - 1,
        termination_reason = v_reason, finish_reason = v_finish ->> 'finish_reason', result_seq = v_result_seq, result = nullif(v_finish -> 'result', 'null'), error = v_finish -> 'error',
        finished_at = v_at, sealed_at = coalesce(sealed_at, v_at)
    where thread_id = p_thread_id and id = p_run_id;
  end if;
  update lanefold.thread
  set rev = v_next, event_rev = event_rev + jsonb_array_length(v_events), updated_at = v_at,
      active_run_id = case when v_finish is null then active_run_id end
  where id = p_thread_id;
  if v_finish is not null then
    v_out := v_out || lanefold._note_run_end(p_thread_id, t.tenant_id, p_run_id) || '{"finished": true}';
    if v_status <> 'completed' then
      perform lanefold._leave_waits(p_thread_id, p_run_id, v_status, v_at);
    end if;
    if r.options ? 'parent' then
      perform lanefold._leave_parent(p_thread_id, p_run_id, v_at);
    end if;
    if t.pending_op_id is not null or t.pending_config is not null or t.waiting_runs > 0 or r.queued_inputs > 0 then
      v_out := v_out || lanefold._after_finish(p_thread_id, p_run_id);
    end if;
  elsif r.cancel_requested_at is not null then
    v_out := v_out || '{"cancel_requested": true}';
  elsif v_hands then
    v_out := v_out || lanefold._hand_over(p_thread_id, p_run_id, v_out, p -> 'handoff', v_at);
  end if;
  return v_out;
end $$;

-- Gives a run to another agent: the worker loses it, and the caller adds its job. p_answer: what commit_step returns
-- without it, for a retry after a lost acknowledgement. Returns {status, job}.
create or replace function lanefold._hand_over(p_thread_id text, p_run_id text, p_answer jsonb, p jsonb, p_at timestamptz)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_out jsonb;
  v_answer jsonb;
begin
  update lanefold._run
  set agent = p ->> 'agent', model = p ->> 'model', options = p -> 'options', other_usage = coalesce(p -> 'other_usage', other_usage), status = 'queued', enqueue_no = enqueue_no + 1,
      enqueued_at = p_at, ready_at = p_at, lease_until = null, worker_id = null, agent_unknown_since = null, agent_version = null, sealed_at = null
  where thread_id = p_thread_id and id = p_run_id returning * into r;
  v_out := jsonb_build_object('status', 'queued', 'job', jsonb_build_object('thread_id', p_thread_id, 'run_id', p_run_id, 'agent', r.agent,
    'enqueue_no', r.enqueue_no, 'queue_shard', r.queue_shard, 'queue_prefix', r.queue_prefix));
  v_answer := p_answer || v_out;
  update lanefold._run set last_commit = v_answer where thread_id = p_thread_id and id = p_run_id;
  return v_out;
end $$;

-- The length of the trace at which a step leaves events out.
create or replace function lanefold._max_events(p jsonb)
returns int language sql immutable parallel safe as $$
  select coalesce((p ->> 'max_events')::int, 2000);
$$;
