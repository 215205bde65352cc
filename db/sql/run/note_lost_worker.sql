-- Adds `worker_lost` to the trace: the lease of the run has expired, and a claim found the run at p_at. last_seen_at
-- is when the worker last claimed the run, committed or renewed its lease; tool_call_ids are the calls of the current
-- round without a known outcome. The caller holds the lock of the thread and has the row `r` of the run.
create or replace function lanefold._note_lost_worker(p_thread_id text, r lanefold._run, p_at timestamptz)
returns void language plpgsql as $$
declare
  v_seen timestamptz := lanefold._last_seen(r, p_at);
  v_open jsonb := '[]'::jsonb;
begin
  if r.state ->> 'phase' = 'tools' then
    select coalesce(jsonb_agg(tool_call_id order by call_index), '[]') into v_open from lanefold._tool_call
    where thread_id = p_thread_id and run_id = r.id and round = (r.state ->> 'round')::int and outcome is null;
  end if;
  perform lanefold._note_run_event(p_thread_id, r.id, p_at, 'worker_lost',
    jsonb_build_object('worker_id', r.worker_id, 'last_seen_at', v_seen, 'tool_call_ids', v_open));
end $$;

-- When the worker of a run whose lease has expired last claimed it, committed or renewed the lease.
create or replace function lanefold._last_seen(r lanefold._run, p_at timestamptz) returns timestamptz language sql stable as $$
  select least(r.lease_until - r.lease_ms * interval '1 ms', p_at)
$$;
