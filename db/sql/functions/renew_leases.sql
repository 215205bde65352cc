-- Renews every lease of a worker in one statement, p_runs: [{thread_id, run_id, lease}]. Takes run rows only and skips
-- those a writer holds, so it can wait for nobody; what it skipped is told as not renewed. Returns what the worker must
-- know: {thread_id, run_id, lost, cancel_requested, renewed}; a run it does not mention was renewed.
create or replace function lanefold.renew_leases(p_runs jsonb, p_lease_ms int)
returns table (thread_id text, run_id text, lost boolean, cancel_requested boolean, renewed boolean) language plpgsql as $$
begin
  return query
    with held as (
      select k.thread_id, k.id from lanefold._run k
      join jsonb_to_recordset(p_runs) as h (thread_id text, run_id text, lease bigint)
        on k.thread_id = h.thread_id and k.id = h.run_id and k.lease = h.lease
      where k.status = 'running'
      for update of k skip locked
    ), written as (
      update lanefold._run r
      set lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
      from held where r.thread_id = held.thread_id and r.id = held.id
      returning r.thread_id, r.id
    )
    select h.thread_id, h.run_id, r.lease is distinct from h.lease or r.status <> 'running', r.cancel_requested_at is not null, w.id is not null
    from jsonb_to_recordset(p_runs) as h (thread_id text, run_id text, lease bigint)
    left join lanefold._run r on r.thread_id = h.thread_id and r.id = h.run_id
    left join written w on w.thread_id = h.thread_id and w.id = h.run_id
    where r.lease is distinct from h.lease or r.status <> 'running' or r.cancel_requested_at is not null or w.id is null;
end $$;
