-- Why a worker was lost, if the cause lies outside of the runs that it held: then its loss says nothing against them. p_seen_at: when it
-- last renewed the lease that has expired; p_asked_by: the worker that asks. Returns
--   database_restarted  the server was started after that: no lease could be renewed
--   worker_frozen       it has reported since that its process or its machine stood still when the lease ran out
--   database_silent     no worker was heard for longer than live ones stay silent, and one other than the lost worker lived through it:
--                       its own event loop was not busy meanwhile, which explains a silence as well
--   worker_stopping     the worker had been told to stop, and was killed before it had given its runs back
--   workers_lost        another worker fell silent within the same moment: their machine, or what connects them, is gone
-- or null if the cause is unknown, as for a run that crashes its worker; or if the worker has reported since that its event loop was
-- busy when the lease ran out.
--
-- For sessions of workers that act for no tenant. With Citus, only the coordinator has the workers, so a function that the node of a
-- thread executes must not call it.
create or replace function lanefold.loss_cause(p_worker_id text, p_seen_at timestamptz, p_asked_by text)
returns text language plpgsql stable as $$
declare
  v_at constant timestamptz := lanefold._now();
  -- a worker reports three times before it counts as dead, so half of that time is a report that never came (see report_worker)
  v_late interval;
  v_last timestamptz;
  v_draining boolean;
  v_busy boolean;
  v_frozen boolean;
  v_silences tstzmultirange;
begin
  if lanefold._restarted_since(p_seen_at) then
    return 'database_restarted';
  end if;
  select w.draining or w.stopped_at is not null, w.dead_after_ms / 2 * interval '1 ms',
         w.busy @> p_seen_at + w.dead_after_ms / 2 * interval '1 ms', w.frozen @> p_seen_at + w.dead_after_ms / 2 * interval '1 ms'
  into v_draining, v_late, v_busy, v_frozen
  from lanefold._worker w where w.id = p_worker_id;
  if v_busy then
    return null;
  elsif v_frozen then
    return 'worker_frozen';
  elsif v_draining then
    return 'worker_stopping';
  end if;
  select coalesce(range_agg(w.silences), '{}'), max(w.heartbeat_at) into v_silences, v_last from lanefold._worker w;
  if v_at - v_last > v_late then
    v_silences := v_silences + tstzmultirange(tstzrange(v_last, v_at));
  end if;
  return (
    select case
      when exists (
        select from unnest(v_silences) s
        join lanefold._worker w on w.started_at <= lower(s) and (w.heartbeat_at >= upper(s) or w.id = p_asked_by)
        cross join lateral unnest(tstzmultirange(s) - w.busy) heeded
        where w.id <> p_worker_id and upper(heeded) - lower(heeded) >= least(v_late, upper(s) - lower(s))
          and lower(heeded) < p_seen_at + v_late and upper(heeded) > p_seen_at) then 'database_silent'
      when exists (
        select from lanefold._worker w
        -- an earlier worker that the same run has crashed was heard for the last time before that: a lease lies between
        where w.id <> p_worker_id and w.stopped_at is null and w.heartbeat_at between p_seen_at - v_late * 2 / 3 and p_seen_at + v_late
          -- its next report was due long ago; the run is usually found before that of a live one would count as late
          and w.heartbeat_at < v_at - w.dead_after_ms * 5 / 12 * interval '1 ms') then 'workers_lost' end);
end $$;
