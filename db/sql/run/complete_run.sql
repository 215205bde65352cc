-- The normal end of a run: computes what a step p with `finish` makes of its row `r`. commit_step writes it with the last entries
-- of the run, and _after_finish does what follows. A cancel recorded before this commit wins; the answer stays in the log.
-- p_last_seq: the entry that is the result if `finish` has none. Returns the row as it ends, and the terminal events.
create or replace function lanefold._complete_run(
  r lanefold._run, p jsonb, p_last_seq bigint, p_at timestamptz, out run lanefold._run, out events jsonb
) language plpgsql stable as $$
declare
  v_finish jsonb := p -> 'finish';
begin
  if r.cancel_requested_at is not null then
    v_finish := jsonb_build_object('status', 'cancelled', 'reason', 'cancelled',
      'error', jsonb_build_object('type', 'cancelled', 'message', coalesce(r.cancel_reason, 'user_cancelled')));
  end if;
  run := r;
  run.status := v_finish ->> 'status';
  run.termination_reason := v_finish ->> 'reason';
  run.finish_reason := v_finish ->> 'finish_reason';
  run.result_seq := case when run.status = 'completed' and not v_finish ? 'result' then p_last_seq end;
  run.result := nullif(v_finish -> 'result', 'null');
  run.error := v_finish -> 'error';
  run.answered := lanefold._is_answered(run.status, run.termination_reason, run.result_seq is not null or run.result is not null);
  run.active := false;
  run.state := null;
  run.lease_until := null;
  run.finished_at := p_at;
  run.sealed_at := coalesce(r.sealed_at, p_at);
  events := coalesce(v_finish -> 'events', '[]')
    || lanefold._terminal_events(run.status, run.termination_reason, (p ->> 'iteration')::int, run.error, run.result_seq,
         coalesce(v_finish -> 'shown', v_finish -> 'result'));
  if v_finish ? 'output' then
    -- the terminal event is the last but one; the terminal checkpoint follows it
    events := jsonb_set(events, array[(jsonb_array_length(events) - 2)::text, 'd', 'output'], v_finish -> 'output');
  end if;
end $$;

-- Whether a run that has ended has an answer: a limit may have ended it before. A compaction answers without a result.
create or replace function lanefold._is_answered(p_status text, p_reason text, p_has_result boolean)
returns boolean language sql immutable parallel safe as $$
  select p_status = 'completed' and (p_has_result or not lanefold._is_limit(p_reason));
$$;

-- Whether a run with this reason of its end was stopped by a limit; see src/agent/strategies/limits.ts.
create or replace function lanefold._is_limit(p_reason text)
returns boolean language sql immutable parallel safe as $$
  select coalesce(p_reason in ('max_iterations', 'max_total_tokens', 'max_duration', 'budget_exhausted'), false);
$$;
