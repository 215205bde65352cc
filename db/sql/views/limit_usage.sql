-- Every bucket of every limit: what was used in its interval, what of that is reserved, also for runs that start next, and how many runs wait because of it. A limit
-- that no run has used yet has one row without a key. Repeats `_limit_window` and `_limit_value`, because its readers need no rights on
-- functions, and the policy of limits, because that of the owner shows all of them: see grants.sql.
create or replace view lanefold.limit_usage as
select l.owner, l.name, l.kind, l.scope, b.key, coalesce((l.amounts ->> case when starts_with(b.key, '//') then substring(b.key from '^//[^/]*/(.*)$') else b.key end)::bigint, l.amount) as amount,
       coalesce(u.used, 0::bigint) + coalesce(b.granted, 0::bigint) as used, coalesce(b.reserved, 0::bigint) + coalesce(b.granted, 0::bigint) as reserved,
       coalesce(b.waiting, 0) as waiting,
       coalesce(b.total, 0::bigint) as total, b.drained_until, b.noticed_at, l.tokens, l.per_ms, l.calendar, l.time_zone, l.share_by, l.shares, l.reserve, l.amounts,
       l.on_exhausted,
       -- one for all limits, so that it would tell a tenant how often those of others change
       case when has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute')
           or has_function_privilege(session_user, 'lanefold._any_tenant()', 'execute') then
           case when coalesce(current_setting('lanefold.tenant', true), '') in ('', '*') then l.version end
         when exists (select from lanefold._role k where k.name = session_user and k.tenant = '*') then l.version end as version, l.created_at, l.updated_at, l.updated_by,
       case when l.per_ms is not null and b.key is not null then array(
         -- the slice with the number n is at this position, if it is still or already there
         select case when n > b.slice - 33 and n <= b.slice then b.ring[(mod(n, 33) + 1)::int] else 0 end
         from generate_series(w.slice - 32, w.slice) n order by n) end as slices,
       case when l.share_by is not null and b.waiting > 0 then (
         select jsonb_object_agg(x.share, x.runs) from (
           select a.share, count(*) as runs from lanefold._limit_wait a
           where a.owner = b.owner and a.name = b.name and a.key = b.key and a.refused
           group by a.share order by count(*) desc, a.share limit 10) x) end as waiting_by
from lanefold._limit l
left join lanefold._limit_bucket b on b.owner = l.owner and b.name = l.name
cross join lateral (
  select clock_timestamp() + coalesce(nullif(current_setting('lanefold.clock_offset', true), ''), '0')::interval as at) c
cross join lateral (
  select case when l.per_ms is not null then floor(extract(epoch from c.at) * 1000 / (l.per_ms / 32.0))::bigint
              when l.calendar is not null then extract(epoch from date_trunc(l.calendar, c.at, coalesce(l.time_zone, 'UTC')))::bigint
              else 0 end as slice) w
left join lateral (
  -- position p has the newest slice that is p - 1 modulo the length
  select sum(x.used)::bigint as used from unnest(b.ring) with ordinality as x (used, p)
  where b.slice - mod(b.slice - (x.p - 1), array_length(b.ring, 1)) > w.slice - array_length(b.ring, 1)) u on true
where l.removed_at is null and case
  when has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute')
    or has_function_privilege(session_user, 'lanefold._any_tenant()', 'execute') then
    coalesce(current_setting('lanefold.tenant', true), '') in ('', '*', l.owner)
  else exists (select from lanefold._role k where k.name = session_user and k.tenant in ('*', l.owner)) end;
