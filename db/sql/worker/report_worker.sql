-- Stores the heartbeat of a worker for the view `worker`: its abilities and current work. p: {host, pid, version,
-- queue, agents, strategies, versions, tools?, concurrency, dead_after_ms, runs_held, draining, stopped, stalls?: [{kind, from_ms, to_ms}],
-- times before this report in which its event loop served nothing: `busy`, because a call did not yield, or `frozen`. The first report of a
-- worker adds its row and removes workers last seen more than 30 days ago; `stopped` marks the last report. It is sent with
-- lease renewals, so it must never wait: a report is skipped if its row is locked, for example by a hung session of
-- the same worker.
--
-- A report that is the first one of any worker for longer than live workers stay silent ends a silence: the database was not
-- reachable, or no worker ran. The reporter's row keeps it for unattended_ms.
create or replace function lanefold.report_worker(p_id text, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_stopped_at constant timestamptz := case when (p ->> 'stopped')::boolean then v_at end;
  v_last constant timestamptz := (select max(w.heartbeat_at) from lanefold._worker w);
  v_silence tstzmultirange;  -- null: there was none
begin
  -- a worker reports three times before it counts as dead, so half of that time is a report that never came
  if v_at - v_last > (p ->> 'dead_after_ms')::int / 2 * interval '1 ms' then
    v_silence := tstzmultirange(tstzrange(v_last, v_at));
  end if;
  perform from lanefold._worker where id = p_id for update skip locked;
  if found then
    -- only the columns that change: long lists of agents are not rewritten
    update lanefold._worker
    set heartbeat_at = v_at, runs_held = (p ->> 'runs_held')::int, draining = (p ->> 'draining')::boolean, stopped_at = v_stopped_at
    where id = p_id;
    if v_silence is not null then
      update lanefold._worker
      set silences = (silences + v_silence) * tstzmultirange(tstzrange(v_at - interval '30 days', null))
      where id = p_id;
    end if;
    if p ? 'stalls' then
      update lanefold._worker
      set busy = (busy + lanefold._stalled(p -> 'stalls', 'busy', v_at)) * tstzmultirange(tstzrange(v_at - interval '30 days', null)),
          frozen = (frozen + lanefold._stalled(p -> 'stalls', 'frozen', v_at)) * tstzmultirange(tstzrange(v_at - interval '30 days', null))
      where id = p_id;
    end if;
    return;
  end if;
  insert into lanefold._worker (id, started_at, heartbeat_at, stopped_at, dead_after_ms, host, pid, version, queue_prefix, agents,
    strategies, versions, tools, concurrency, runs_held, draining, silences)
  select p_id, v_at, v_at, v_stopped_at, w.dead_after_ms, w.host, w.pid, w.version, w.queue, w.agents, w.strategies, w.versions,
    coalesce(w.tools, '{}'), w.concurrency, w.runs_held, w.draining, coalesce(v_silence, '{}')
  from jsonb_to_record(p) as w (dead_after_ms int, host text, pid int, version text, queue text, agents text[], strategies text[], versions text[],
    tools text[], concurrency int, runs_held int, draining boolean)
  on conflict (id) do nothing;
  delete from lanefold._worker
  where id in (select id from lanefold._worker where heartbeat_at < v_at - interval '30 days' for update skip locked);
end $$;

-- The stalls of one kind in a report that came at p_at.
create or replace function lanefold._stalled(p_stalls jsonb, p_kind text, p_at timestamptz) returns tstzmultirange
language sql immutable as $$
  select coalesce(range_agg(tstzrange(p_at - s.from_ms * interval '1 ms', p_at - s.to_ms * interval '1 ms')), '{}')
  from jsonb_to_recordset(p_stalls) as s (kind text, from_ms float8, to_ms float8) where s.kind = p_kind
$$;
