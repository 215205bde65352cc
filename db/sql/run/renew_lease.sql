-- Renews the lease of a run for its worker. Locks only the row of the run and skips it if a writer holds it, so it
-- never waits; the next renewal tries again. Returns one row: `lost` if another worker took the run over, or it ended
-- or does not exist any more; `cancel_requested`; `renewed`, false without `lost` if the row was locked.
create or replace function lanefold.renew_lease(p_thread_id text, p_run_id text, p_lease bigint, p_lease_ms int)
returns table (lost boolean, cancel_requested boolean, renewed boolean) language plpgsql as $$
declare
  r record;
  v_until constant timestamptz := lanefold._now() + p_lease_ms * interval '1 ms';
begin
  select k.lease, k.status, k.cancel_requested_at into r from lanefold._run k
  where k.thread_id = p_thread_id and k.id = p_run_id and k.lease = p_lease and k.status = 'running'
  for update skip locked;
  renewed := found;
  if renewed then
    update lanefold._run set lease_until = v_until where thread_id = p_thread_id and id = p_run_id;
  else
    select k.lease, k.status, k.cancel_requested_at into r from lanefold._run k
    where k.thread_id = p_thread_id and k.id = p_run_id;
  end if;
  lost := r.lease is distinct from p_lease or r.status <> 'running';
  cancel_requested := r.cancel_requested_at is not null;
  return next;
end $$;
