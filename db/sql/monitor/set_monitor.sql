-- Sets a monitor, or changes it. p: {queue_prefix?, agents: [], sample, scorers: [], rubric?, judge?, alert?, by}. The monitor scores
-- runs that end from then on. Setting it to what it already is changes nothing. A change keeps its scores, closes its alert without an
-- event and restarts the count of the alert. Audited. The library checks the fields (src/features/monitors/definition/read-definition.ts). Raises LF014 if the
-- tenant has 50 of them, or if the monitor belongs to another queue; LF016.
create or replace function lanefold.set_monitor(p_tenant text, p_name text, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_agents constant text[] := array(select jsonb_array_elements_text(p -> 'agents'));
  v_scorers constant text[] := array(select jsonb_array_elements_text(p -> 'scorers'));
  m lanefold._monitor;
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  perform lanefold._check_id(p_name, 'monitor name');
  select * into m from lanefold._monitor where tenant_id = p_tenant and name = p_name;
  if m.name is not null and m.queue_prefix is distinct from p ->> 'queue_prefix' then
    perform lanefold._fail('LF014', format('Monitor %s was set by processes with another queue.', p_name),
      'Nothing was written. Choose another name, or remove that monitor first.');
  elsif m.agents = v_agents and m.sample = (p ->> 'sample')::float8 and m.scorers = v_scorers and m.rubric is not distinct from p ->> 'rubric'
    and m.judge is not distinct from nullif(p -> 'judge', 'null') and m.alert is not distinct from nullif(p -> 'alert', 'null') then
    return;
  elsif m.name is null and (select count(*) from lanefold._monitor where tenant_id = p_tenant) >= 50 then
    perform lanefold._fail('LF014', format('Tenant %s has 50 monitors.', p_tenant), 'Nothing was written. Remove one first.');
  end if;
  insert into lanefold._monitor (tenant_id, name, queue_prefix, agents, sample, scorers, rubric, judge, alert, read_to, created_at, updated_at,
    updated_by)
  values (p_tenant, p_name, p ->> 'queue_prefix', v_agents, (p ->> 'sample')::float8, v_scorers, p ->> 'rubric', nullif(p -> 'judge', 'null'),
    nullif(p -> 'alert', 'null'), v_at, v_at, v_at, p ->> 'by')
  on conflict (tenant_id, name) do update
  set agents = excluded.agents, sample = excluded.sample, scorers = excluded.scorers,
      rubric = excluded.rubric, judge = excluded.judge, alert = excluded.alert, scored = 0::bigint, turned_at = 0::bigint, low_since = null,
      read_to = excluded.read_to, read_thread_id = '', read_run_id = '',
      updated_at = excluded.updated_at, updated_by = excluded.updated_by;
  perform lanefold.write_audit(jsonb_build_object('actor', p ->> 'by', 'action', 'monitors.set', 'tenant_id', p_tenant,
    'detail', jsonb_build_object('name', p_name, 'new', p - 'by')));
end $$;

-- Removes a monitor and its scores; workers cancel the runs of its judge. Audited. Returns whether there was one.
create or replace function lanefold.remove_monitor(p_tenant text, p_name text, p_by text)
returns boolean language plpgsql as $$
begin
  delete from lanefold._monitor where tenant_id = p_tenant and name = p_name;
  if not found then
    return false;
  end if;
  perform lanefold._drop_judges(p_tenant, p_name, null);
  delete from lanefold._run_score where tenant_id = p_tenant and monitor = p_name;
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'monitors.remove', 'tenant_id', p_tenant,
    'detail', jsonb_build_object('name', p_name)));
  return true;
end $$;

-- Lets workers erase the threads of judges that a monitor waits for: of all its runs, or of those of a thread.
create or replace function lanefold._drop_judges(p_tenant text, p_name text, p_thread text)
returns void language plpgsql as $$
begin
  update lanefold._eval_thread t set erase_at = lanefold._now()
  from lanefold._run_score s
  where s.status = 'waiting' and (p_tenant is null or s.tenant_id = p_tenant and s.monitor = p_name)
    and (p_thread is null or s.thread_id = p_thread)
    and t.tenant_id = s.tenant_id and t.thread_id = s.judge_thread_id and t.erase_at is null;
end $$;
