-- Asks, before a call that a worker would hold back, whether the model may be called now. p_probe names the call; p_rule as in
-- report_circuits. Returns {may: true} if the circuit is closed by now, {may: true, probe: true} if the call is the one that probes: its
-- worker tells of it within probe_ms, or another one may; else {may: false, wait_ms?: until a call may probe}.
create or replace function lanefold.probe_circuit(p_model text, p_probe text, p_rule jsonb)
returns jsonb language plpgsql as $$
declare
  v_at timestamptz;
  c lanefold._circuit;
  v_new lanefold._circuit;
begin
  select * into c from lanefold._circuit where model = p_model for update;
  if c.model is null or c.state = 'closed' then
    return jsonb_build_object('may', true);
  end if;
  v_at := lanefold._now();
  v_new := lanefold._circuit_asked(c, p_probe, v_at, p_rule);
  if v_new.probe = p_probe then
    perform lanefold._change_circuit(c, v_new);
    return jsonb_build_object('may', true, 'probe', true);
  end if;
  return jsonb_strip_nulls(jsonb_build_object('may', false,
    'wait_ms', lanefold._ms_between(v_at, case c.state when 'open' then c.open_until else c.probe_until end)));
end $$;
