-- Takes up to p_limit alarms that no other worker has and that are due, for p_hold_ms. Returns the row of each, with `from`: the
-- runs accepted since then count.
create or replace function lanefold.take_alarms(p_hold_ms int, p_limit int)
returns setof jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_hold_ms * interval '1 ms';
begin
  return query
    update lanefold._alarm a set taken_at = v_at, held_until = v_until
    from (
      select n.tenant_id, n.name from lanefold._alarm n
      where n.paused_at is null and (n.held_until is null or n.held_until <= v_at)
      order by n.held_until nulls first limit p_limit for update skip locked) next
    where a.tenant_id = next.tenant_id and a.name = next.name
    returning to_jsonb(a) || jsonb_build_object('from', v_at - a.within_ms * interval '1 ms');
end $$;

-- Stores what a worker has counted for an alarm that it took at p_taken_at, and raises or clears the alarm: each turn is one event, in
-- this transaction. p: {runs, all_runs?, newest: [{thread_id, run_id}]}. Other workers leave it alone for p_hold_ms. Returns false,
-- and writes nothing, if another worker has taken it, or if it was changed, paused or removed meanwhile.
create or replace function lanefold.settle_alarm(p_tenant text, p_name text, p_taken_at timestamptz, p jsonb, p_hold_ms int)
returns boolean language plpgsql as $$
declare
  v_runs constant bigint := (p ->> 'runs')::bigint;
  v_all constant bigint := (p ->> 'all_runs')::bigint;
  v_at timestamptz;
  v_until timestamptz;
  v_many boolean;
  v_data jsonb;
  a lanefold._alarm;
begin
  select * into a from lanefold._alarm where tenant_id = p_tenant and name = p_name for update;
  if a.name is null or a.taken_at is distinct from p_taken_at then
    return false;
  end if;
  v_at := lanefold._now();
  v_until := v_at + p_hold_ms * interval '1 ms';
  v_many := v_runs > a.more_than and (a.share is null or v_runs > a.share * v_all);
  v_data := jsonb_strip_nulls(jsonb_build_object('runs', v_runs, 'all', v_all));
  a.calm_since := case when a.raised_at is not null and not v_many then coalesce(a.calm_since, v_at) end;
  update lanefold._alarm
  set counted_at = v_at, held_until = v_until, taken_at = null, runs = v_runs, all_runs = v_all, calm_since = a.calm_since
  where tenant_id = p_tenant and name = p_name;
  if v_many and a.raised_at is null then
    update lanefold._alarm set raised_at = v_at, turns = turns + 1 where tenant_id = p_tenant and name = p_name returning * into a;
    perform lanefold._tell_alarm(a, 'alarm.raised', v_data || jsonb_build_object('since', v_at, 'newest', p -> 'newest'));
  elsif a.calm_since <= v_at - a.clear_after_ms * interval '1 ms' then
    perform lanefold._clear_alarm(a, 'fewer', v_data);
  end if;
  perform lanefold._note_alarm_count(p_tenant, p_name, v_at, v_runs, v_all, v_many);
  return true;
end $$;

-- Clears an alarm that is raised: one event, which says why.
create or replace function lanefold._clear_alarm(a lanefold._alarm, p_because text, p_data jsonb)
returns void language plpgsql as $$
declare
  v_since constant timestamptz := a.raised_at;
begin
  if v_since is null then
    return;
  end if;
  update lanefold._alarm set raised_at = null, calm_since = null, turns = turns + 1
  where tenant_id = a.tenant_id and name = a.name returning * into a;
  perform lanefold._tell_alarm(a, 'alarm.cleared', p_data || jsonb_build_object('since', v_since, 'because', p_because));
end $$;

-- Notes a turn of an alarm for webhooks. An alarm that was removed and set again has other keys.
create or replace function lanefold._tell_alarm(a lanefold._alarm, p_type text, p_data jsonb)
returns void language plpgsql as $$
begin
  if lanefold._note_event(format('/alarms/%s/%s', a.tenant_id, a.name), a.tenant_id, p_type, coalesce(a.filter ->> 'agent', ''),
    format('%s %s %s', a.name, extract(epoch from a.created_at), a.turns),
    jsonb_strip_nulls(jsonb_build_object('alarm', a.name, 'filter', a.filter, 'within_ms', a.within_ms, 'more_than', a.more_than,
      'share', a.share)) || p_data)
  then
    perform pg_notify('lanefold_webhooks', '');
  end if;
end $$;

-- Keeps the highest count of each five minutes.
create or replace function lanefold._note_alarm_count(p_tenant text, p_name text, p_at timestamptz, p_runs bigint, p_all bigint, p_raised boolean)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := date_bin('5 minutes', p_at, 'epoch');
begin
  insert into lanefold._alarm_count as c (tenant_id, alarm, at, runs, all_runs, raised)
  values (p_tenant, p_name, v_at, p_runs, p_all, p_raised)
  on conflict (tenant_id, alarm, at) do update
  set runs = greatest(c.runs, excluded.runs), raised = c.raised or excluded.raised,
      all_runs = case when excluded.runs >= c.runs then excluded.all_runs else c.all_runs end;
end $$;

-- Deletes up to p_limit counts of alarms that are older than p_days. Returns how many.
create or replace function lanefold.drop_alarm_counts(p_days float8, p_limit int)
returns int language plpgsql as $$
declare
  v_before constant timestamptz := lanefold._now() - p_days * interval '1 day';
  v_count int;
begin
  delete from lanefold._alarm_count c
  using (select o.tenant_id, o.alarm, o.at from lanefold._alarm_count o where o.at < v_before order by o.at limit p_limit for update skip locked) old
  where c.tenant_id = old.tenant_id and c.alarm = old.alarm and c.at = old.at;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
