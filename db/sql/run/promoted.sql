-- The active run of a thread if no worker holds it yet, as {promoted: its job (_job_of), with priority?, delay_ms?: until it may
-- start}, else {}. Its job may be added any number of
-- times, so a caller that missed an answer gets it again.
create or replace function lanefold._promoted(p_thread_id text)
returns jsonb language plpgsql stable as $$
declare
  r lanefold._run;
  v_at constant timestamptz := lanefold._now();
begin
  select * into r from lanefold._run k where k.thread_id = p_thread_id and k.active and k.status = 'queued';
  if not found then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('promoted', lanefold._job_of(r)
    -- a run that has started before gets no priority: it already had its turn
    || case when r.started_at is null and r.options ? 'priority' then jsonb_build_object('priority', r.options -> 'priority') else '{}' end
    || case when r.start_at > v_at then jsonb_build_object('delay_ms', lanefold._ms_between(v_at, r.start_at)) else '{}' end);
end $$;
