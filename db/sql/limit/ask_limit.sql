-- What runs with this value of the sharing dimension may use of a bucket: all but what is reserved for other values.
create or replace function lanefold._limit_most(l lanefold._limit, p_key text, p_share text)
returns bigint language plpgsql immutable as $$
declare
  v_most constant bigint := coalesce((l.amounts ->> lanefold._limit_value(p_key))::bigint, l.amount);
begin
  if l.reserve is null then
    return v_most;
  end if;
  return greatest(v_most - (select coalesce(sum(value::bigint), 0)::bigint from jsonb_each_text(l.reserve) where key is distinct from p_share), 0);
end $$;

-- Why a bucket refuses this much to a run, or null if it does not. p_first: its turn has come here, so it is behind no other
-- run. Else it is behind those of p_lane, and behind all that come before it in the line and can use what it asks for. The
-- answers are those of use_limits; without delay_ms, look_ms says when to check whether its turn has come, if it only is
-- behind others.
create or replace function lanefold._ask_limit(l lanefold._limit, k lanefold._limit_bucket, p_place text, p_amount bigint, p_share text, p_first boolean,
  a lanefold._limit_account, p_lane text, p_at timestamptz)
returns jsonb language plpgsql stable as $$
declare
  v_most constant bigint := lanefold._limit_most(l, k.key, p_share);
  v_room constant bigint := v_most - k.used - k.granted - p_amount;
begin
  if l.on_exhausted = 'notice' and (k.drained_until > p_at) is not true then
    return null;
  elsif p_amount > v_most and l.kind not in ('concurrency', 'runs') and l.on_exhausted <> 'notice' then
    return jsonb_build_object('impossible', p_place, 'most', v_most);
  elsif l.on_exhausted = 'end' and v_room < 0 then
    return jsonb_build_object('refused', p_place, 'ends', true);
  elsif v_room < 0 or k.drained_until > p_at then
    return jsonb_strip_nulls(jsonb_build_object('refused', p_place, 'delay_ms', lanefold._limit_delay_ms(l, k, -v_room, p_at)));
  elsif p_first or k.lined = 0 or not lanefold._is_behind(l, k, p_place, v_room, p_share, a, p_lane, p_at) then
    return null;
  end if;
  return jsonb_build_object('refused', p_place, 'look_ms', lanefold._look_again_ms());
end $$;

-- Whether a bucket has room for this much, apart from the runs that wait for it.
create or replace function lanefold._has_room(l lanefold._limit, k lanefold._limit_bucket, p_amount bigint, p_share text, p_at timestamptz)
returns boolean language plpgsql immutable as $$
begin
  return (k.drained_until > p_at) is not true
    and (l.on_exhausted = 'notice' or k.used + k.granted + p_amount <= lanefold._limit_most(l, k.key, p_share));
end $$;

-- A key of a bucket without the tenant for which it is counted (src/agent/limits/dimensions.ts): what the amounts of a limit name.
create or replace function lanefold._limit_value(p_key text)
returns text language sql immutable parallel safe
return case when starts_with(p_key, '//') then substring(p_key from '^//[^/]*/(.*)$') else p_key end;
