-- What runs hold of limits now: a slot, what their model calls have reserved, or what is set aside for their start. A run that is done holds it until its
-- worker, or the sweep, has settled what it used. A session of a tenant sees its own runs, also on limits of the operator:
-- the policy of runs decides, because that of accounts shows all to the owner (grants.sql).
create or replace view lanefold.limit_holder as
-- of the coordinator alone, where the database is distributed: read first, and then looked up on the nodes
with h as materialized (
  select p.owner, p.name, l.kind, substr(x.place, length(p.owner) + length(p.name) + 3) collate "C" as key, x.amount, a.thread_id, a.run_id
  from lanefold._limit_account a
  cross join lateral (
    select place, (hold ->> 0)::bigint from jsonb_each(a.holds) h (place, hold)
    union all
    select place, amount::bigint from jsonb_each_text(a.grants) g (place, amount)) x (place, amount)
  cross join lateral (select split_part(x.place, ' ', 1) collate "C" as owner, split_part(x.place, ' ', 2) collate "C" as name) p
  join lanefold._limit l on l.owner = p.owner and l.name = p.name
  where x.amount > 0)
select h.owner, h.name, h.kind, h.key, h.amount, h.thread_id, h.run_id, r.tenant_id, r.agent, r.status,
       case when r.status = 'running' then r.worker_id end as worker_id,
       -- before its first claim: since when it could have started
       coalesce(r.started_at, r.ready_at, r.created_at) as since
from h join lanefold._run r on r.thread_id = h.thread_id and r.id = h.run_id;
