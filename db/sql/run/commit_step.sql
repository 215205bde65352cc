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

-- commit_step, for a caller that holds the lock of the thread and has its row `t`. The row `r` of the run becomes what the step
-- makes of it, and is stored at the end.
create or replace function lanefold._commit_step(
  p_thread_id text, t lanefold.thread, p_run_id text, p_lease bigint, p_step int, p_lease_ms int, p jsonb
) returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
  v_drafts constant jsonb := coalesce(p -> 'entries', '[]');
  v_next bigint := t.rev + jsonb_array_length(v_drafts);  -- seq of the next entry
  v_events jsonb := coalesce(p -> 'events', '[]');
  v_count int;         -- of the events
  v_ends boolean;
  v_notable boolean;
  v_inputs jsonb;
  v_draft jsonb;
  v_prompt record;
  v_end record;
  v_out jsonb;
begin
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  v_at := lanefold._now();
  if r.lease is distinct from p_lease or (r.status <> 'running' and p_step >= r.step) then
    perform lanefold._fail_not_held(p_run_id, p_lease);
  elsif p_step < r.step then
    return lanefold._step_again(p_thread_id, r, v_drafts);
  elsif p_step > r.step or pg_column_size(p -> 'state') > 65536 then
    perform lanefold._fail_step(r, p_step, p -> 'state');
  elsif p ? 'handoff' and r.cancel_requested_at is not null then
    return jsonb_build_object('step', r.step, 'status', r.status, 'cancel_requested', true);
  end if;
  if p ? 'continue' and r.queued_inputs > 0 and r.cancel_requested_at is null then
    p := p - array['finish', 'seal', 'state'] || (p -> 'continue') - 'events'
      || jsonb_build_object('continued', true, 'drain', true, 'then_events', coalesce(p -> 'continue' -> 'events', '[]'));
  end if;
  v_ends := p ? 'finish';

  -- row by row, because Citus replans an insert from a query on every call and copies its rows
  for n in 1 .. jsonb_array_length(v_drafts) loop
    v_draft := v_drafts -> (n - 1);
    insert into lanefold._entry
    values ((lanefold._entry_of(p_thread_id, t.tenant_id, t.chained, t.rev + n - 1, v_at, r.context_ref, p_run_id, r.request_id, v_draft)).*);
  end loop;
  if p ?| array['contents', 'nodes', 'lanes'] then
    perform lanefold._write_beside(p_thread_id, t.tenant_id, p_run_id, p);
  end if;
  if p ? 'calls' then
    perform lanefold._add_calls(p_thread_id, t.tenant_id, p_run_id, t.rev, p);
  end if;
  if p ? 'outcomes' then
    perform lanefold._end_round(p_thread_id, p_run_id, t.rev, v_at, p);
  end if;
  if p ? 'effects' then
    perform lanefold._write_effects(p_thread_id, v_next, v_at, p_run_id, r.request_id, r.iteration, p -> 'effects');
    v_next := v_next + 1;
  end if;
  if p ? 'compact' and r.cancel_requested_at is null
    and lanefold._write_compaction(p_thread_id, r, v_next, v_at, p -> 'compact') then
    v_next := v_next + 1;
  end if;
  if p ? 'handoff' then
    v_prompt := lanefold._adopt_agent_prompt(p_thread_id, r.context_ref, v_next, v_at, p #>> '{handoff,agent}', p -> 'handoff');
    v_next := v_next + v_prompt.written;
    v_events := v_events || jsonb_build_object('k', 'handed_over', 'i', r.iteration,
      'd', jsonb_build_object('from', p #> '{handoff,from}', 'to', p #> '{handoff,agent}'));
  end if;
  if not v_ends and r.queued_inputs > 0 and (p -> 'drain')::boolean then
    select d.inputs, v_events || d.events into v_inputs, v_events
    from lanefold._drain_inputs(p_thread_id, p_run_id, v_next, v_at, r.context_ref, r.request_id, r.iteration) d;
    v_next := v_next + jsonb_array_length(v_inputs);
    r.queued_inputs := 0;
    p := p || jsonb_build_object('then_events', lanefold._more_messages(p -> 'then_events', jsonb_array_length(v_inputs)));
  end if;

  if v_ends then
    v_end := lanefold._complete_run(r, p, t.rev + jsonb_array_length(v_drafts) - 1, v_at);
    r := v_end.run;
    v_events := v_events || v_end.events;
  else
    r.state := p -> 'state';
    r.lease_until := v_at + p_lease_ms * interval '1 ms';
    v_events := v_events || coalesce(p -> 'then_events', '[]');
    r.sealed_at := case when p ? 'seal' then coalesce(r.sealed_at, v_at) else r.sealed_at end;
  end if;
  v_notable := lanefold._is_notable(v_events);
  if r.event_count + jsonb_array_length(v_events) > lanefold._max_events(p) then
    v_events := lanefold._trim_events(p_thread_id, p_run_id, v_events, lanefold._max_events(p) - r.event_count);
  end if;
  v_count := jsonb_array_length(v_events);
  if v_count > 0 then
    insert into lanefold._event_batch
    values ((lanefold._event_batch_of(p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at, t.rev, v_events)).*);
  end if;

  if v_drafts = '[]' then
    v_out := jsonb_build_object('step', p_step + 1, 'status', r.status);
  else
    v_out := jsonb_build_object('step', p_step + 1, 'status', r.status, 'seq', t.rev);
  end if;
  if v_inputs is not null then
    v_out := v_out || jsonb_build_object('inputs', v_inputs) || case when p ? 'continued' then '{"continued": true}' else '{}' end::jsonb;
  end if;
  update lanefold._run
  set step = p_step + 1, iteration = (p ->> 'iteration')::int, usage = coalesce(p -> 'usage', usage),
      other_usage = coalesce(p -> 'other_usage', other_usage), status = r.status, active = r.active, state = r.state,
      lease_until = r.lease_until, claims_without_progress = case when p ? 'resumed' and not v_ends then claims_without_progress else 0 end,
      event_count = event_count + v_count, last_event_seq = case when v_ends then t.event_rev + v_count - 1 else last_event_seq end,
      -- for a retry after a lost acknowledgement, only if the row alone cannot answer it
      queued_inputs = r.queued_inputs, last_commit = case when v_inputs is not null then v_out end,
      termination_reason = r.termination_reason, finish_reason = r.finish_reason, result_seq = r.result_seq, result = r.result,
      answered = r.answered,
      error = r.error, finished_at = r.finished_at, sealed_at = r.sealed_at
  where thread_id = p_thread_id and id = p_run_id;
  update lanefold.thread
  set rev = v_next, event_rev = event_rev + v_count, updated_at = v_at, active_run_id = case when not v_ends then active_run_id end
  where id = p_thread_id;
  if v_ends then
    v_out := v_out || '{"finished": true}' || lanefold._after_last_step(p_thread_id, t, r);
  end if;
  if v_notable or v_ends and (t.altered or lanefold._is_notable_end(r)) then
    perform lanefold._note_marks(p_thread_id, p_run_id);
  end if;
  if v_ends then
    return v_out;
  elsif r.cancel_requested_at is not null then
    v_out := v_out || '{"cancel_requested": true}';
  elsif p ? 'handoff' then
    v_out := v_out || lanefold._hand_over(p_thread_id, p_run_id, v_out, p -> 'handoff', v_at);
  end if;
  return v_out;
end $$;

-- Raises for a step too high, or a state too large.
create or replace function lanefold._fail_step(r lanefold._run, p_step int, p_state jsonb)
returns void language plpgsql as $$
begin
  if p_step > r.step then
    perform lanefold._fail('LF013', format('Run %s is at step %s, not %s.', r.id, r.step, p_step),
      'Nothing was written. A failover lost the last steps; drop the run.');
  end if;
  perform lanefold._fail('LF014', format('The state of run %s has %s bytes; the limit is 65536.', r.id, pg_column_size(p_state)),
    'Keep only bookkeeping in the state of a strategy, and text in the log.');
end $$;

-- The answer to a step that was committed before.
create or replace function lanefold._step_again(p_thread_id text, r lanefold._run, p_drafts jsonb)
returns jsonb language plpgsql stable as $$
begin
  return jsonb_build_object('step', r.step) || coalesce(r.last_commit, '{}')
    || jsonb_build_object('duplicate', true, 'status', r.status, 'finished', r.finished_at is not null,
         'cancel_requested', r.cancel_requested_at is not null)
    || lanefold._first_seq(p_thread_id, r.context_ref, p_drafts, jsonb_array_length(coalesce(r.last_commit -> 'inputs', '[]')))
    || case when r.finished_at is not null then lanefold._promoted(p_thread_id) else '{}' end;
end $$;

-- Writes what few steps have: large texts, results of a strategy, and new lanes.
create or replace function lanefold._write_beside(p_thread_id text, p_tenant text, p_run_id text, p jsonb)
returns void language plpgsql as $$
begin
  if p ? 'contents' then
    perform lanefold._store_contents(p_thread_id, p_tenant, p -> 'contents');
  end if;
  if p ? 'nodes' then
    perform lanefold._write_nodes(p_thread_id, p_tenant, p_run_id, p -> 'nodes');
  end if;
  if p ? 'lanes' then
    insert into lanefold._lane (thread_id, tenant_id, context_ref)
    select p_thread_id, p_tenant, c from jsonb_array_elements_text(p -> 'lanes') c
    on conflict (thread_id, context_ref) do nothing;
  end if;
end $$;

-- Adds the tool calls of a step to the ledger; row by row, see _commit_step. p_first: seq of the first entry of the step.
create or replace function lanefold._add_calls(p_thread_id text, p_tenant text, p_run_id text, p_first bigint, p jsonb)
returns void language plpgsql as $$
declare
  v_calls constant jsonb := p -> 'calls';
  c jsonb;
begin
  for n in 0 .. jsonb_array_length(v_calls) - 1 loop
    c := v_calls -> n;
    insert into lanefold._tool_call (thread_id, tenant_id, run_id, round, call_index, tool_call_id, name, status, call_seq)
    values (p_thread_id, p_tenant, p_run_id, (p ->> 'round')::int, (c ->> 'index')::smallint, c ->> 'id', c ->> 'name',
      coalesce(c ->> 'status', 'pending'), p_first + coalesce((p ->> 'calls_at')::int, 0));
  end loop;
end $$;

-- Notes in the ledger how the calls of a round have ended, and where their results are.
create or replace function lanefold._end_round(p_thread_id text, p_run_id text, p_first bigint, p_at timestamptz, p jsonb)
returns void language plpgsql as $$
declare
  v_outcomes constant jsonb := p -> 'outcomes';
  v_round constant int := coalesce(p -> 'outcomes_round', p -> 'round')::int;
  o jsonb;
begin
  for n in 0 .. jsonb_array_length(v_outcomes) - 1 loop
    o := v_outcomes -> n;
    update lanefold._tool_call
    set status = o ->> 'status', attempts = (o ->> 'attempts')::smallint, duration_ms = (o ->> 'duration_ms')::int,
        outcome = null, finished_at = coalesce(finished_at, p_at), result_seq = p_first + (p ->> 'results_at')::int + call_index
    where thread_id = p_thread_id and run_id = p_run_id and round = v_round and call_index = n;
  end loop;
end $$;

-- Events whose counts of messages do not include p_more inputs yet, which the worker had not heard of.
create or replace function lanefold._more_messages(p_events jsonb, p_more int)
returns jsonb language sql immutable parallel safe as $$
  select coalesce(to_jsonb(array_agg(case when e ? 'm' then jsonb_set(e, '{m}', to_jsonb((e -> 'm')::int + p_more)) else e end order by n)), '[]')
  from jsonb_array_elements(p_events) with ordinality as x (e, n);
$$;

-- What follows the step that ends a run: `t` is the thread before it, `r` the run after it. Returns what to add to the answer.
create or replace function lanefold._after_last_step(p_thread_id text, t lanefold.thread, r lanefold._run)
returns jsonb language plpgsql as $$
declare
  v_out jsonb := lanefold._note_run_end(p_thread_id, t.tenant_id, r.id);
begin
  if r.status <> 'completed' then
    perform lanefold._leave_waits(p_thread_id, r.id, r.status, r.finished_at);
  end if;
  if r.options ? 'parent' then
    perform lanefold._leave_parent(p_thread_id, r.id, r.finished_at);
  end if;
  if t.pending_op_id is not null or t.pending_config is not null or t.pending_branch is not null or t.waiting_runs > 0 or r.queued_inputs > 0 then
    v_out := v_out || lanefold._after_finish(p_thread_id, r.id);
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
  set agent = p ->> 'agent', model = p ->> 'model', options = p -> 'options',
      other_usage = coalesce(p -> 'other_usage', other_usage), status = 'queued', enqueue_no = enqueue_no + 1, enqueued_at = p_at,
      ready_at = p_at, lease_until = null, worker_id = null, agent_unknown_since = null, agent_version = null, sealed_at = null
  where thread_id = p_thread_id and id = p_run_id returning * into r;
  v_out := jsonb_build_object('status', 'queued', 'job', lanefold._job_of(r));
  v_answer := p_answer || v_out;
  update lanefold._run set last_commit = v_answer where thread_id = p_thread_id and id = p_run_id;
  return v_out;
end $$;

-- The length of the trace at which a step leaves events out.
create or replace function lanefold._max_events(p jsonb)
returns int language sql immutable parallel safe as $$
  select coalesce((p ->> 'max_events')::int, 2000);
$$;
