-- What becomes of a circuit: pure functions of its row, what happened, the time, and the rule, {window_ms, share, min_calls, open_ms,
-- probe_ms}. Nothing else writes the state of a circuit.
--
--   closed ── a share of the calls of the window failed ──▶ open ── its time is over, and a worker probes ──▶ half_open
--     ▲                                                      ▲                                                  │
--     └───────────────── the probe was answered ─────────────┼──────────────────────────────────────────────────┤
--                                                            └── it failed, or its worker left it or was lost ◀─┘

-- After calls were counted: p_ok were answered, p_failed say that the provider fails. p_wait_ms: how long it asked to be left alone.
-- Both halves of the window count, so that a count is forgotten after one and a half windows at the latest.
create or replace function lanefold._circuit_counted(c lanefold._circuit, p_ok int, p_failed int, p_wait_ms bigint, p_reason text, p_at timestamptz, p_rule jsonb)
returns lanefold._circuit language plpgsql immutable as $$
declare
  v_half constant interval := (p_rule ->> 'window_ms')::float8 / 2 * interval '1 ms';
  v_failed int;
  v_all int;
begin
  if p_at >= c.half_at + 2 * v_half then
    c.half_at := p_at;
    c.ok := 0;
    c.failed := 0;
    c.ok_before := 0;
    c.failed_before := 0;
  elsif p_at >= c.half_at + v_half then
    c.half_at := c.half_at + v_half;
    c.ok_before := c.ok;
    c.failed_before := c.failed;
    c.ok := 0;
    c.failed := 0;
  end if;
  c.ok := c.ok + p_ok;
  c.failed := c.failed + p_failed;
  c.updated_at := p_at;
  v_failed := c.failed + c.failed_before;
  v_all := v_failed + c.ok + c.ok_before;
  if c.state = 'closed' and p_failed > 0 and v_all >= (p_rule ->> 'min_calls')::int and v_failed >= (p_rule ->> 'share')::float8 * v_all then
    return lanefold._circuit_opened(c, p_wait_ms, p_reason, p_at, p_rule);
  elsif c.state = 'open' and c.opened_by is null and p_wait_ms is not null then
    c.open_until := greatest(c.open_until, p_at + p_wait_ms * interval '1 ms');
  end if;
  return c;
end $$;

-- Held back from now on, for as long as the provider asked or the rule says.
create or replace function lanefold._circuit_opened(c lanefold._circuit, p_wait_ms bigint, p_reason text, p_at timestamptz, p_rule jsonb)
returns lanefold._circuit language plpgsql immutable as $$
begin
  c.turns := c.turns + case when c.opened_at is null then 1 else 0 end;
  c.state := 'open';
  c.opened_at := coalesce(c.opened_at, p_at);
  c.open_until := p_at + coalesce(p_wait_ms, (p_rule ->> 'open_ms')::bigint) * interval '1 ms';
  c.reason := p_reason;
  c.probe := null;
  c.probe_until := null;
  c.updated_at := p_at;
  return c;
end $$;

-- Calls may be made again, and are counted afresh.
create or replace function lanefold._circuit_closed(c lanefold._circuit, p_at timestamptz)
returns lanefold._circuit language plpgsql immutable as $$
begin
  c.turns := c.turns + case when c.opened_at is null then 0 else 1 end;
  c.state := 'closed';
  c.opened_at := null;
  c.open_until := null;
  c.reason := null;
  c.opened_by := null;
  c.probe := null;
  c.probe_until := null;
  c.half_at := p_at;
  c.ok := 0;
  c.failed := 0;
  c.ok_before := 0;
  c.failed_before := 0;
  c.updated_at := p_at;
  return c;
end $$;

-- After a worker asked to probe: half open under p_probe if it is due and no other probe is under way, else unchanged.
create or replace function lanefold._circuit_asked(c lanefold._circuit, p_probe text, p_at timestamptz, p_rule jsonb)
returns lanefold._circuit language plpgsql immutable as $$
begin
  if c.state = 'open' and c.open_until <= p_at or c.state = 'half_open' and c.probe_until <= p_at then
    c.state := 'half_open';
    c.probe := p_probe;
    c.probe_until := p_at + (p_rule ->> 'probe_ms')::bigint * interval '1 ms';
    c.updated_at := p_at;
  end if;
  return c;
end $$;

-- After a worker told of its probe: `ok`, `failed`, `lost` without an outcome, or `goes on`. What a probe says that is no longer the
-- circuit's changes nothing.
create or replace function lanefold._circuit_probed(c lanefold._circuit, p_probe text, p_outcome text, p_wait_ms bigint, p_reason text, p_at timestamptz, p_rule jsonb)
returns lanefold._circuit language plpgsql immutable as $$
begin
  if (c.probe = p_probe) is not true then
    return c;
  elsif p_outcome = 'ok' then
    return lanefold._circuit_closed(c, p_at);
  elsif p_outcome = 'failed' then
    c.opened_by := null;
    return lanefold._circuit_opened(c, p_wait_ms, p_reason, p_at, p_rule);
  elsif p_outcome = 'lost' then
    c.state := 'open';
    c.probe := null;
    c.probe_until := null;
  else
    c.probe_until := p_at + (p_rule ->> 'probe_ms')::bigint * interval '1 ms';
  end if;
  c.updated_at := p_at;
  return c;
end $$;
