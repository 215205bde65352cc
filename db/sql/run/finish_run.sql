-- Ends a run outside its state machine: by its worker (p_lease given) after a failure or a cancel, or by any caller
-- (p_lease null) if no worker can. The normal end is the commit_step that carries `finish`: see _complete_run. First
-- closes the open tool group from the ledger: stored outcomes become real tool messages, all other calls get error
-- results that name the reason, also those that asked to hand the run over. p: {status, reason, error?, usage?, other_usage?, events?}. Returns {finished, status,
-- promoted?, deliveries?: of webhooks are due}; for a run that has ended it writes nothing and returns finished: false. Raises LF011, and LF012 for a
-- worker that no longer holds the run: another worker does, or the run is queued or suspended and held by no worker.
create or replace function lanefold.finish_run(p_thread_id text, p_run_id text, p_lease bigint, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
  v_drafts jsonb;
  v_events jsonb;
  v_error jsonb := p -> 'error';
  v_status text := p ->> 'status';
  v_reason text := p ->> 'reason';
  v_effects jsonb;
  v_no_result text;
  v_n int := 0;
  v_stored bigint;
  v_out jsonb;
begin
  t := lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    perform lanefold._fail_no_run(p_thread_id, p_run_id);
  elsif r.finished_at is not null then
    return jsonb_build_object('finished', false, 'status', r.status) || lanefold._promoted(p_thread_id);
  elsif p_lease is not null and (r.lease <> p_lease or r.status <> 'running') then
    perform lanefold._fail_not_held(p_run_id, p_lease);
  end if;
  if r.cancel_requested_at is not null then
    v_status := 'cancelled';
    v_reason := 'cancelled';
    v_error := jsonb_build_object('type', 'cancelled', 'message', coalesce(r.cancel_reason, 'user_cancelled'));
  end if;

  select sum(octet_length(k.outcome::text)) into v_stored from lanefold._tool_call k
  where k.thread_id = p_thread_id and k.run_id = p_run_id and k.result_seq is null;
  v_no_result := lanefold._error_result(v_reason, format('The run ended (%s) before this tool call had a result.', v_reason));
  with closed as (
    update lanefold._tool_call c
    set result_seq = t.rev + x.n - 1, outcome = null, finished_at = coalesce(c.finished_at, v_at), status = case
          when c.status not in ('pending', 'awaiting_approval', 'waiting', 'started') and not x.hands then c.status
          when c.status = 'started' then 'unknown' else 'abandoned' end
    from (select k.round, k.call_index, k.outcome, coalesce(k.outcome ? 'next', false) as hands,
            row_number() over (order by k.round, k.call_index) as n from lanefold._tool_call k
          where k.thread_id = p_thread_id and k.run_id = p_run_id and k.result_seq is null) x
    where c.thread_id = p_thread_id and c.run_id = p_run_id and c.round = x.round and c.call_index = x.call_index
    returning c.*, x.outcome as stored, x.hands or x.outcome is null as bare, x.n
  )
  select to_jsonb(array_agg(jsonb_build_object('role', 'tool', 'context_ref', m.context_ref,
           'payload', jsonb_build_object('tool_call_id', c.tool_call_id, 'name', c.name, 'content',
             -- outcomes that are too large together are left out, so that the run can end
             case when v_stored <= 67108864 and not c.bare then c.stored ->> 'content' else v_no_result end),
           'refs', jsonb_build_object('iteration', r.iteration) || case when c.bare then jsonb_build_object('kind', c.status)
             else coalesce(c.stored -> 'refs', '{}') || case when c.stored ? 'cleaned' then '{"cleaned": true}' else '{}' end::jsonb
             end) order by n)),
         to_jsonb(array_agg(jsonb_build_object('k', 'tool_completed', 'i', r.iteration, 'e', n - 1,
           'd', jsonb_build_object('tool_call_id', c.tool_call_id, 'tool_name', c.name, 'status', c.status, 'attempts', c.attempts,
             'duration_ms', c.duration_ms)
           || case when c.stored ? 'refused' then jsonb_build_object('refused_effects', c.stored -> 'refused') else '{}' end) order by n)),
         to_jsonb(array_agg(c.stored -> 'effects' order by n) filter (where c.stored ? 'effects'))
  into v_drafts, v_events, v_effects
  from closed c left join lanefold._entry m on m.thread_id = p_thread_id and m.seq = c.call_seq;
  if v_drafts is not null then
    v_n := jsonb_array_length(v_drafts);
    perform lanefold._insert_entries(p_thread_id, t.rev, v_at, v_drafts, r.context_ref, p_run_id, r.request_id);
  end if;
  if v_effects is not null then
    perform lanefold._write_effects(p_thread_id, t.rev + v_n, v_at, p_run_id, r.request_id, r.iteration,
      (select to_jsonb(array_agg(e order by x.n, y.n)) from jsonb_array_elements(v_effects) with ordinality as x (list, n),
         jsonb_array_elements(x.list) with ordinality as y (e, n)));
    v_n := v_n + 1;
  end if;
  v_events := coalesce(p -> 'events', '[]') || coalesce(v_events, '[]')
    || lanefold._terminal_events(v_status, v_reason, r.iteration, v_error, null, null);
  insert into lanefold._event_batch
  values ((lanefold._event_batch_of(p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at, t.rev, v_events)).*);
  update lanefold._run
  set status = v_status, active = false, termination_reason = v_reason, error = v_error, usage = coalesce(p -> 'usage', usage),
      other_usage = coalesce(p -> 'other_usage', other_usage),
      -- a run that never started has its input only here, and a retry needs it
      state = null, input = case when r.user_seq is null then r.input end, suspended_until = null, event_count = event_count + jsonb_array_length(v_events),
      first_event_seq = coalesce(first_event_seq, t.event_rev),
      last_event_seq = t.event_rev + jsonb_array_length(v_events) - 1, lease_until = null, finished_at = v_at,
      sealed_at = coalesce(sealed_at, v_at), answered = false
  where thread_id = p_thread_id and id = p_run_id;
  update lanefold.thread
  set rev = rev + v_n, event_rev = event_rev + jsonb_array_length(v_events), updated_at = v_at,
      active_run_id = nullif(active_run_id, p_run_id), waiting_runs = waiting_runs - (r.status = 'waiting')::int
  where id = p_thread_id;
  perform lanefold._leave_waits(p_thread_id, p_run_id, v_status, v_at);
  if r.options ? 'parent' then
    perform lanefold._leave_parent(p_thread_id, p_run_id, v_at);
  end if;
  v_out := jsonb_build_object('finished', true, 'status', v_status) || lanefold._note_run_end(p_thread_id, t.tenant_id, p_run_id);
  if r.status <> 'waiting' then
    v_out := v_out || lanefold._after_finish(p_thread_id, p_run_id);
  end if;
  perform lanefold._note_marks(p_thread_id, p_run_id);
  return v_out;
end $$;
