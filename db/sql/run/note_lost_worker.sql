-- Adds `worker_lost` to the trace: the lease of the run has expired, and a claim found the run at p_at. last_seen_at
-- is when the worker last claimed the run, committed or renewed its lease; tool_call_ids are the calls of the current
-- round without a known outcome. The caller holds the lock of the thread and has its row `t` and the row `r` of the
-- run.
create or replace function lanefold._note_lost_worker(p_thread_id text, t lanefold.thread, r lanefold._run, p_at timestamptz)
returns void language plpgsql as $$
declare
  v_seen timestamptz := lanefold._last_seen(r, p_at);
  v_open jsonb := '[]'::jsonb;
begin
  if r.state ->> 'phase' = 'tools' then
    select coalesce(jsonb_agg(tool_call_id order by call_index), '[]') into v_open from lanefold._tool_call
    where thread_id = p_thread_id and run_id = r.id and round = (r.state ->> 'round')::int and outcome is null;
  end if;
  insert into lanefold._event_batch (thread_id, tenant_id, event_seq, run_id, seq, at, entry_seq, events)
  values (p_thread_id, t.tenant_id, t.event_rev, r.id, r.event_count + 1, p_at, t.rev,
    json_build_array(json_build_object('k', 'worker_lost', 'i', r.iteration,
      'd', jsonb_build_object('worker_id', r.worker_id, 'last_seen_at', v_seen, 'tool_call_ids', v_open))));
  update lanefold._run set event_count = event_count + 1 where thread_id = p_thread_id and id = r.id;
  update lanefold.thread set event_rev = event_rev + 1, updated_at = p_at where id = p_thread_id;
end $$;

-- When the worker of a run whose lease has expired last claimed it, committed or renewed the lease.
create or replace function lanefold._last_seen(r lanefold._run, p_at timestamptz) returns timestamptz language sql stable as $$
  select least(r.lease_until - r.lease_ms * interval '1 ms', p_at)
$$;
