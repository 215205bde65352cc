-- Stores the heartbeat of a worker for the view `worker`: its abilities and current work. p: {host, pid, version,
-- queue, agents, strategies, versions, concurrency, dead_after_ms, runs_held, draining, stopped}. The first report of a worker
-- adds its row and removes workers last seen more than 30 days ago; `stopped` marks the last report. It is sent with
-- lease renewals, so it must never wait: a report is skipped if its row is locked, for example by a hung session of
-- the same worker.
create or replace function lanefold.report_worker(p_id text, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_stopped_at constant timestamptz := case when (p ->> 'stopped')::boolean then v_at end;
begin
  perform from lanefold._worker where id = p_id for update skip locked;
  if found then
    -- only the columns that change: long lists of agents are not rewritten
    update lanefold._worker
    set heartbeat_at = v_at, runs_held = (p ->> 'runs_held')::int, draining = (p ->> 'draining')::boolean, stopped_at = v_stopped_at
    where id = p_id;
    return;
  end if;
  insert into lanefold._worker (id, started_at, heartbeat_at, stopped_at, dead_after_ms, host, pid, version, queue_prefix, agents,
    strategies, versions, concurrency, runs_held, draining)
  select p_id, v_at, v_at, v_stopped_at, w.dead_after_ms, w.host, w.pid, w.version, w.queue, w.agents, w.strategies, w.versions, w.concurrency,
    w.runs_held, w.draining
  from jsonb_to_record(p) as w (dead_after_ms int, host text, pid int, version text, queue text, agents text[], strategies text[], versions text[],
    concurrency int, runs_held int, draining boolean)
  on conflict (id) do nothing;
  delete from lanefold._worker
  where id in (select id from lanefold._worker where heartbeat_at < v_at - interval '30 days' for update skip locked);
end $$;
