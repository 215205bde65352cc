-- Opens the circuit of a model by hand, whatever its calls say: p is {reason, by, until?}. Without `until`, no worker probes until it is
-- closed by hand. Audited. Raises LF014 in a session that acts for a tenant, and for a time that is over.
create or replace function lanefold.open_circuit(p_model text, p jsonb)
returns void language plpgsql as $$
declare
  v_until constant timestamptz := (p ->> 'until')::timestamptz;
  v_at timestamptz;
  c lanefold._circuit;
  v_old lanefold._circuit;
begin
  v_old := lanefold._own_circuit(p_model);
  v_at := lanefold._now();
  if v_until <= v_at then
    perform lanefold._fail('LF014', format('The circuit of %s cannot be open until %s, which is over.', p_model, p ->> 'until'), 'Nothing was written. Pass a later time, or none.');
  end if;
  c := v_old;
  if c.model is null then
    c := lanefold._new_circuit(p_model);
    v_old := c;
  end if;
  c.turns := c.turns + 1;
  c.state := 'open';
  c.opened_at := coalesce(c.opened_at, v_at);
  c.open_until := v_until;
  c.reason := p ->> 'reason';
  c.opened_by := p ->> 'by';
  c.probe := null;
  c.probe_until := null;
  c.updated_at := v_at;
  perform lanefold._change_circuit(v_old, c);
  perform lanefold.write_audit(jsonb_build_object('actor', p ->> 'by', 'action', 'circuits.open',
    'detail', jsonb_strip_nulls(jsonb_build_object('model', p_model, 'reason', p -> 'reason', 'until', p -> 'until'))));
end $$;

-- Closes the circuit of a model by hand: calls are made again, and counted afresh. Audited. Returns whether the model has a circuit.
-- Raises LF014 in a session that acts for a tenant.
create or replace function lanefold.close_circuit(p_model text, p_by text)
returns boolean language plpgsql as $$
declare
  c lanefold._circuit;
begin
  c := lanefold._own_circuit(p_model);
  if c.model is null then
    return false;
  elsif c.state <> 'closed' then
    perform lanefold._change_circuit(c, lanefold._circuit_closed(c, lanefold._now()));
    perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'circuits.close', 'detail', jsonb_build_object('model', p_model, 'state', c.state)));
  end if;
  return true;
end $$;

-- The circuit that an operator changes, locked; null without one.
create or replace function lanefold._own_circuit(p_model text)
returns lanefold._circuit language plpgsql as $$
declare
  c lanefold._circuit;
begin
  if coalesce(current_setting('lanefold.tenant', true), '') not in ('', '*') then
    perform lanefold._fail('LF014', 'The circuits of models belong to the operator.', 'Nothing was written. Act for no tenant.');
  end if;
  select * into c from lanefold._circuit where model = p_model for update;
  return c;
end $$;

-- Deletes up to p_limit closed circuits of models that no worker has called for p_days. Returns how many.
create or replace function lanefold.drop_circuits(p_days float8, p_limit int)
returns int language plpgsql as $$
declare
  v_before constant timestamptz := lanefold._now() - p_days * interval '1 day';
  v_count int;
begin
  delete from lanefold._circuit c
  using (select o.model from lanefold._circuit o where o.state = 'closed' and o.updated_at < v_before order by o.model limit p_limit for update skip locked) old
  where c.model = old.model;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
