-- Renews the leases [{thread_id, run_id, lease}] of one worker in one statement, each as renew_lease does. Returns a
-- row for each lease that needs the worker's attention: see renew_lease. Skips locked rows, so it never waits, and
-- renewals of several workers cannot deadlock.
create or replace function lanefold.renew_leases(p_leases jsonb, p_lease_ms int)
returns table (thread_id text, run_id text, lost boolean, cancel_requested boolean, renewed boolean) language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_until constant timestamptz := lanefold._now() + p_lease_ms * interval '1 ms';
begin
  with held as materialized (
    select k.thread_id, k.id
    from jsonb_to_recordset(p_leases) as h (thread_id text, run_id text, lease bigint)
    join lanefold._run k on k.thread_id = h.thread_id and k.id = h.run_id
    where k.lease = h.lease and k.status = 'running'
    for update of k skip locked
  )
  update lanefold._run r set lease_until = v_until
  from held h where r.thread_id = h.thread_id and r.id = h.id;
  return query
  select n.* from (
    select h.thread_id, h.run_id, k.lease is distinct from h.lease or k.status <> 'running' as lost,
           k.cancel_requested_at is not null as cancel_requested,
           coalesce(k.lease = h.lease and k.status = 'running' and k.lease_until = v_until, false) as renewed
    from jsonb_to_recordset(p_leases) as h (thread_id text, run_id text, lease bigint)
    left join lanefold._run k on k.thread_id = h.thread_id and k.id = h.run_id) n
  where n.lost or n.cancel_requested or not n.renewed;
end $$;
