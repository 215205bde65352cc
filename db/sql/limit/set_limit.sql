-- Sets a limit of a tenant, or of the operator (`*`), which applies to all tenants. p: {kind, scope, amount, amounts?, tokens?, per_ms?, calendar?,
-- time_zone?, share?, weights?, on_exhausted?, by}. Runs that wait for it go on if it now lets them: the processes are
-- notified on the channel lanefold_limits. What has been used stays used. Returns the number of the change. Raises LF014
-- if the name has a limit of another kind.
create or replace function lanefold.set_limit(p_owner text, p_name text, p jsonb)
returns bigint language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_version bigint;
  v_new lanefold._limit;
  v_old lanefold._limit;
  v_now record;
begin
  if lanefold._scope() not in ('*', p_owner) then
    perform lanefold._fail('LF014', 'A tenant sets its own limits only.', 'Nothing was written.');
  end if;
  lock table lanefold._limit in share row exclusive mode;
  v_version := lanefold._limits_version() + 1;
  select * into v_old from lanefold._limit where owner = p_owner and name = p_name;
  if v_old.kind <> p ->> 'kind' then
    perform lanefold._fail('LF014', format('Limit %s is of the kind %s.', p_name, v_old.kind), 'Give a limit of another kind another name.');
  end if;
  insert into lanefold._limit as l (owner, name, version, kind, scope, amount, amounts, tokens, per_ms, calendar, time_zone, share, weights,
    on_exhausted, created_at, updated_at, updated_by)
  values (p_owner, p_name, v_version, p ->> 'kind', p -> 'scope', (p ->> 'amount')::bigint, p -> 'amounts', p ->> 'tokens',
    (p ->> 'per_ms')::bigint, p ->> 'calendar', p ->> 'time_zone', p ->> 'share', p -> 'weights', coalesce(p ->> 'on_exhausted', 'wait'), v_at, v_at,
    p ->> 'by')
  on conflict (owner, name) do update
  set version = excluded.version, scope = excluded.scope, amount = excluded.amount, amounts = excluded.amounts, tokens = excluded.tokens,
      per_ms = excluded.per_ms, calendar = excluded.calendar, time_zone = excluded.time_zone, share = excluded.share, weights = excluded.weights,
      on_exhausted = excluded.on_exhausted, updated_at = excluded.updated_at, updated_by = excluded.updated_by, removed_at = null
  returning * into v_new;
  if (v_old.per_ms, v_old.calendar, v_old.time_zone) is distinct from (v_new.per_ms, v_new.calendar, v_new.time_zone) then
    -- in the new interval, all of it was used just now
    v_now := lanefold._limit_window(v_new, v_at);
    update lanefold._limit_bucket
    set slice = v_now.slice, ring = array_fill(0::bigint, array[(v_now.slice % v_now.slices)::int]) || used || array_fill(0::bigint, array[(v_now.slices - 1 - v_now.slice % v_now.slices)::int])
    where owner = p_owner and name = p_name;
  end if;
  perform pg_notify('lanefold_limits', v_version::text);
  return v_version;
end $$;

-- Removes a limit. Runs that wait for it go on; what runs hold of it returns as ever. Returns whether there was one.
create or replace function lanefold.remove_limit(p_owner text, p_name text, p_by text)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  if lanefold._scope() not in ('*', p_owner) then
    perform lanefold._fail('LF014', 'A tenant sets its own limits only.', 'Nothing was written.');
  end if;
  lock table lanefold._limit in share row exclusive mode;
  update lanefold._limit set version = lanefold._limits_version() + 1, removed_at = v_at, updated_at = v_at, updated_by = p_by
  where owner = p_owner and name = p_name and removed_at is null;
  if not found then
    return false;
  end if;
  perform pg_notify('lanefold_limits', lanefold._limits_version()::text);
  return true;
end $$;
