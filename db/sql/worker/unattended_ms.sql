-- For how long, in ms, no worker could execute runs with these needs (see unattended_reason), counted at the earliest from p_since. Null if a
-- live worker can, or if no worker of the fleet is alive that could say so. The end of a worker that could is when it stopped,
-- or when its time without a heartbeat was over. Times in which the database heard no worker do not count: a worker that has
-- everything may have been unable to say so. That includes the time since the last heartbeat of any worker. For sessions of
-- workers that act for no tenant.
create or replace function lanefold.unattended_ms(p_queue_prefix text, p_agent text, p_version text, p_strategy text, p_tools text[],
  p_since timestamptz)
returns float8 language plpgsql stable as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_silences tstzmultirange;
begin
  if coalesce(lanefold.unattended_reason(p_queue_prefix, p_agent, p_version, p_strategy, p_tools), 'no_worker') = 'no_worker' then
    return null;
  end if;
  select coalesce(range_agg(w.silences), '{}') + tstzmultirange(tstzrange(least(max(w.heartbeat_at), v_at), v_at)) into v_silences
  from lanefold._worker w;
  return greatest(0, least(lanefold._heard_ms(v_silences, p_since, v_at), (
    select min(case when w.stopped_at is null then lanefold._heard_ms(v_silences, w.heartbeat_at, v_at) - w.dead_after_ms
                    else lanefold._heard_ms(v_silences, w.stopped_at, v_at) end)
    from lanefold._worker w
    cross join lateral lanefold._abilities(w.agents, w.versions, w.strategies, w.tools, p_agent, p_version, p_strategy, p_tools) c
    where w.queue_prefix = p_queue_prefix and c.has_agent and c.has_version and c.has_strategy and c.has_tools)));
end $$;

-- The time from p_from to p_to in ms, without the silences.
create or replace function lanefold._heard_ms(p_silences tstzmultirange, p_from timestamptz, p_to timestamptz) returns float8
language sql immutable as $$
  select extract(epoch from p_to - p_from)::float8 * 1000 - coalesce((
    select sum(extract(epoch from upper(s) - lower(s)))::float8 * 1000
    from unnest(p_silences * tstzmultirange(tstzrange(least(p_from, p_to), p_to))) s), 0)
$$;
