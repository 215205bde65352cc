-- The normal end of a run: computes what a step with `finish` writes. commit_step writes it with the last entries of
-- the run, and _after_finish does what follows. A cancel recorded before this commit wins; the answer stays in the
-- log. p_finish: see commit_step; p_last_seq: the entry that is the result if `finish` has none. Returns the terminal
-- status, reason and events, the seq of the result, and `finish` with the result and error to store.
create or replace function lanefold._complete_run(
  p_finish jsonb, p_iteration int, p_last_seq bigint, p_cancelled boolean, p_cancel_reason text,
  out status text, out reason text, out result_seq bigint, out finish jsonb, out events jsonb
) language plpgsql stable as $$
begin
  if p_cancelled then
    status := 'cancelled';
    reason := 'cancelled';
    finish := jsonb_build_object('error',
      jsonb_build_object('type', 'cancelled', 'message', coalesce(p_cancel_reason, 'user_cancelled')));
  else
    status := p_finish ->> 'status';
    reason := p_finish ->> 'reason';
    finish := p_finish;
    if status = 'completed' and not p_finish ? 'result' then
      result_seq := p_last_seq;
    end if;
  end if;
  events := coalesce(finish -> 'events', '[]')
    || lanefold._terminal_events(status, reason, p_iteration, finish -> 'error', result_seq,
         coalesce(finish -> 'shown', finish -> 'result'));
  if finish ? 'output' then
    -- the terminal event is the last but one; the terminal checkpoint follows it
    events := jsonb_set(events, array[(jsonb_array_length(events) - 2)::text, 'd', 'output'], finish -> 'output');
  end if;
end $$;
