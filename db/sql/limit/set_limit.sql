-- Sets a limit of a tenant, or of the operator (`*`), which applies to all tenants. p: {kind, scope, amount, amounts?,
-- tokens?, per_ms?, calendar?, time_zone?, share_by?, shares?, reserve?, on_exhausted?, by}. Runs that wait for it continue if it now
-- lets them: the processes are notified on the channel lanefold_limits. What has been used stays used. Returns the number
-- of the change; setting a limit to what it is changes nothing and returns the number it has. A change is audited. Raises LF014 for a limit
-- that makes no sense, if the name has a limit of another kind, or for the limit of a tenant that the session does not
-- act for; LF016.
create or replace function lanefold.set_limit(p_owner text, p_name text, p jsonb)
returns bigint language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_problem constant text := lanefold._limit_problem(p);
  -- what changes without the limit being another one
  v_history constant text[] := array['version', 'created_at', 'updated_at', 'updated_by'];
  v_new lanefold._limit;
  v_old lanefold._limit;
begin
  perform lanefold._check_limit_owner(p_owner);
  perform lanefold._check_id(p_name, 'limit name');
  if v_problem is not null then
    perform lanefold._fail('LF014', format('The limit has no valid %s.', v_problem), 'Nothing was written.');
  end if;
  v_new := jsonb_populate_record(null::lanefold._limit, p);
  begin
    perform v_at at time zone v_new.time_zone;
  exception when invalid_parameter_value then
    perform lanefold._fail('LF014', format('PostgreSQL does not know the time zone %s.', v_new.time_zone), 'Nothing was written. See pg_timezone_names.');
  end;
  lock table lanefold._limit in share row exclusive mode;
  select * into v_old from lanefold._limit where owner = p_owner and name = p_name;
  if v_old.kind <> v_new.kind then
    perform lanefold._fail('LF014', format('Limit %s is of the kind %s.', p_name, v_old.kind), 'Give a limit of another kind another name.');
  end if;
  v_new.owner := p_owner;
  v_new.name := p_name;
  v_new.amounts := (select jsonb_object_agg(a.key, a.value::bigint) from jsonb_each_text(v_new.amounts) a);
  v_new.reserve := (select jsonb_object_agg(a.key, a.value::bigint) from jsonb_each_text(v_new.reserve) a);
  v_new.on_exhausted := coalesce(v_new.on_exhausted, 'wait');
  v_new.version := lanefold._limits_version() + 1;
  v_new.created_at := coalesce(v_old.created_at, v_at);
  v_new.updated_at := v_at;
  v_new.updated_by := p ->> 'by';
  v_new.removed_at := null;
  if to_jsonb(v_old) - v_history = to_jsonb(v_new) - v_history then
    return v_old.version;
  end if;
  if (v_old.per_ms, v_old.calendar, v_old.time_zone) is distinct from (v_new.per_ms, v_new.calendar, v_new.time_zone) then
    perform lanefold._change_interval(v_old, v_new, v_at);
  end if;
  insert into lanefold._limit as l (owner, name, version, kind, scope, amount, amounts, tokens, per_ms, calendar, time_zone, share_by, shares,
    reserve, on_exhausted, created_at, updated_at, updated_by)
  values (v_new.owner, v_new.name, v_new.version, v_new.kind, v_new.scope, v_new.amount, v_new.amounts, v_new.tokens, v_new.per_ms, v_new.calendar,
    v_new.time_zone, v_new.share_by, v_new.shares, v_new.reserve, v_new.on_exhausted, v_new.created_at, v_new.updated_at, v_new.updated_by)
  on conflict (owner, name) do update
  set version = excluded.version, scope = excluded.scope, amount = excluded.amount, amounts = excluded.amounts, tokens = excluded.tokens,
      per_ms = excluded.per_ms, calendar = excluded.calendar, time_zone = excluded.time_zone, share_by = excluded.share_by, shares = excluded.shares,
      reserve = excluded.reserve, on_exhausted = excluded.on_exhausted, updated_at = excluded.updated_at, updated_by = excluded.updated_by, removed_at = null;
  perform lanefold._changed_limit('set', v_new, p ->> 'by', jsonb_strip_nulls(jsonb_build_object(
    'old', case when v_old.removed_at is null then lanefold._limit_detail(v_old) end)) || jsonb_build_object('new', lanefold._limit_detail(v_new)));
  return v_new.version;
end $$;

-- Removes a limit. Runs that wait for it continue; what runs hold of it returns as ever. Audited. Returns whether there was one.
-- Raises LF014 for the limit of a tenant that the session does not act for; LF016.
create or replace function lanefold.remove_limit(p_owner text, p_name text, p_by text)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_old lanefold._limit;
begin
  perform lanefold._check_limit_owner(p_owner);
  lock table lanefold._limit in share row exclusive mode;
  update lanefold._limit set version = lanefold._limits_version() + 1, removed_at = v_at, updated_at = v_at, updated_by = p_by
  where owner = p_owner and name = p_name and removed_at is null returning * into v_old;
  if v_old.name is null then
    return false;
  end if;
  perform lanefold._changed_limit('remove', v_old, p_by, jsonb_build_object('old', lanefold._limit_detail(v_old)));
  return true;
end $$;

-- What the audit says about a limit: its columns, without its history. Null for none.
create or replace function lanefold._limit_detail(l lanefold._limit)
returns jsonb language sql immutable as $$
  select case when l.name is not null then jsonb_strip_nulls(to_jsonb(l)
    - array['owner', 'name', 'version', 'created_at', 'updated_at', 'updated_by', 'removed_at']) end;
$$;

-- Audits a change of a limit, and tells the processes.
create or replace function lanefold._changed_limit(p_action text, l lanefold._limit, p_by text, p_detail jsonb)
returns void language plpgsql as $$
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'limits.' || p_action, 'tenant_id', nullif(l.owner, '*'),
    'detail', jsonb_build_object('name', l.name) || p_detail));
  perform pg_notify('lanefold_limits', '');
end $$;
