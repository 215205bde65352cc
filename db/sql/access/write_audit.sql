-- Writes an audit record. p: {actor?: default sql:<role>, action, tenant_id?, thread_id?, run_id?, detail?}. A function that acts
-- calls it, so that an act leaves a row for every caller, and a refused one leaves none.
create or replace function lanefold.write_audit(p jsonb)
returns void language plpgsql as $$
begin
  insert into lanefold._audit (at, tenant_id, actor, action, thread_id, run_id, detail)
  values (lanefold._now(), p ->> 'tenant_id', coalesce(p ->> 'actor', 'sql:' || session_user), p ->> 'action', p ->> 'thread_id', p ->> 'run_id',
    coalesce(p -> 'detail', '{}'));
end $$;
