-- Stores what a worker has counted and how its probes do, and returns the circuits that are not closed; one call does for all models.
-- p_calls: [{model, ok?, failed?, wait_ms?, reason?} or {model, probe, outcome, wait_ms?, reason?}], see _circuit_counted and
-- _circuit_probed. p_rule: {window_ms, share, min_calls, open_ms, probe_ms}. Returns [{model, state, reason?, open_ms: since it was
-- opened, wait_ms?: until it may be probed}]; wait_ms is absent while it is open by hand without an end.
create or replace function lanefold.report_circuits(p_calls jsonb, p_rule jsonb)
returns jsonb language plpgsql as $$
declare
  v_call jsonb;
  v_at timestamptz;
begin
  -- in one order, so that workers do not wait for each other in a circle
  for v_call in select a.value from jsonb_array_elements(p_calls) a order by a.value ->> 'model' collate "C" loop
    perform lanefold._write_circuit(v_call, p_rule);
  end loop;
  v_at := lanefold._now();
  return (select coalesce(to_jsonb(array_agg(jsonb_strip_nulls(jsonb_build_object('model', c.model, 'state', c.state, 'reason', c.reason,
    'open_ms', lanefold._ms_between(c.opened_at, v_at),
    'wait_ms', lanefold._ms_between(v_at, case c.state when 'open' then c.open_until else c.probe_until end))))), '[]')
  from lanefold._circuit c where c.state <> 'closed');
end $$;

-- Stores one item of p_calls.
create or replace function lanefold._write_circuit(p_call jsonb, p_rule jsonb)
returns void language plpgsql as $$
declare
  v_model constant text := p_call ->> 'model';
  v_wait_ms constant bigint := (p_call ->> 'wait_ms')::bigint;
  v_at timestamptz;
  c lanefold._circuit;
begin
  select * into c from lanefold._circuit where model = v_model for update;
  if c.model is null then
    c := lanefold._new_circuit(v_model);
  end if;
  v_at := lanefold._now();
  if p_call ? 'probe' then
    perform lanefold._change_circuit(c, lanefold._circuit_probed(c, p_call ->> 'probe', p_call ->> 'outcome', v_wait_ms, p_call ->> 'reason', v_at, p_rule));
  else
    perform lanefold._change_circuit(c, lanefold._circuit_counted(c, coalesce((p_call ->> 'ok')::int, 0), coalesce((p_call ->> 'failed')::int, 0),
      v_wait_ms, p_call ->> 'reason', v_at, p_rule));
  end if;
end $$;

-- The row of a model that no worker has reported yet, locked.
create or replace function lanefold._new_circuit(p_model text)
returns lanefold._circuit language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  c lanefold._circuit;
begin
  insert into lanefold._circuit (model, half_at, updated_at) values (p_model, v_at, v_at) on conflict (model) do nothing;
  select * into c from lanefold._circuit where model = p_model for update;
  return c;
end $$;

-- Stores what has become of a circuit, and tells the workers, and the endpoints of the operator, if it now lets calls through or
-- holds them back.
create or replace function lanefold._change_circuit(p_old lanefold._circuit, p_new lanefold._circuit)
returns void language plpgsql as $$
begin
  if p_new is not distinct from p_old then
    return;
  end if;
  update lanefold._circuit
  set half_at = p_new.half_at, updated_at = p_new.updated_at, opened_at = p_new.opened_at, open_until = p_new.open_until,
      probe_until = p_new.probe_until, turns = p_new.turns, ok = p_new.ok, failed = p_new.failed, ok_before = p_new.ok_before,
      failed_before = p_new.failed_before, state = p_new.state, probe = p_new.probe, reason = p_new.reason, opened_by = p_new.opened_by
  where model = p_new.model;
  if p_new.turns > p_old.turns then
    perform pg_notify('lanefold_circuits', '');
  end if;
  if p_old.opened_at is null and p_new.opened_at is not null then
    perform lanefold._tell_circuit(p_new, 'circuit.opened', jsonb_build_object('until', p_new.open_until));
  elsif p_old.opened_at is not null and p_new.opened_at is null then
    perform lanefold._tell_circuit(p_old, 'circuit.closed', '{}');
  end if;
end $$;

-- Notes a turn of a circuit for the endpoints without a tenant, which are those of the tenant `default`: models and their providers
-- are the operator's. c: as it is, or was, while it is open; the time at which it was opened tells its turns apart.
create or replace function lanefold._tell_circuit(c lanefold._circuit, p_type text, p_data jsonb)
returns void language plpgsql as $$
begin
  if lanefold._note_event('/circuits/' || c.model, 'default', p_type, '', format('%s %s', c.model, extract(epoch from c.opened_at)),
    jsonb_strip_nulls(jsonb_build_object('model', c.model, 'reason', c.reason, 'since', c.opened_at) || p_data))
  then
    perform pg_notify('lanefold_webhooks', '');
  end if;
end $$;
