-- The name of a bucket in calls: owner, name and key, with spaces between. Neither of the first two contains one. Null
-- without a name.
create or replace function lanefold._limit_place(p_owner text, p_name text, p_key text)
returns text language plpgsql immutable parallel safe as $$
begin
  return p_owner || ' ' || p_name || ' ' || p_key;
end $$;

-- The number of the newest limit, changed or removed; 0 without limits.
create or replace function lanefold._limits_version()
returns bigint language plpgsql stable as $$
begin
  return (select coalesce(max(version), 0) from lanefold._limit);
end $$;

-- The number of the slice that `p_at` is in, and how many slices a bucket has. One more than the interval consists of,
-- because its first and last are not whole: no interval of that length, wherever it begins, has more than the limit.
create or replace function lanefold._limit_window(p_per_ms bigint, p_calendar text, p_time_zone text, p_at timestamptz, out slice bigint, out slices int)
language plpgsql stable as $$
begin
  if p_per_ms is not null then
    slice := floor(extract(epoch from p_at) * 1000 / (p_per_ms / 32.0))::bigint;
    slices := 33;
  else
    slice := case when p_calendar is null then 0 else extract(epoch from date_trunc(p_calendar, p_at, coalesce(p_time_zone, 'UTC')))::bigint end;
    slices := 1;
  end if;
end $$;

-- A reservation of a slice ends, and this much was used of it. What was reserved before the interval counts no more.
-- p_newest: the slice of the run's newest reservation, which counts if the interval was changed since the other one.
-- p_lost: the provider may have counted a call whose end is not known, so what it reserved stays until it leaves the interval.
create or replace function lanefold._settle_limit(k lanefold._limit_bucket, p_reserved bigint, p_newest bigint, p_slice bigint, p_used bigint, p_lost boolean)
returns lanefold._limit_bucket language plpgsql immutable as $$
declare
  v_slices constant int := array_length(k.ring, 1);
  v_slice constant bigint := case when p_slice > k.slice or p_slice <= k.slice - array_length(k.ring, 1) then coalesce(p_newest, p_slice) else p_slice end;
  v_change bigint := case when p_lost then greatest(p_used - p_reserved, 0) else p_used - p_reserved end;
begin
  k.reserved := k.reserved - p_reserved;
  k.total := k.total + p_used;
  if v_slice > k.slice - v_slices and v_slice <= k.slice then
    -- several reservations of a run share a slice, so one of them may have left the interval already
    v_change := greatest(v_change, -k.ring[v_slice % v_slices + 1]);
    k.ring[v_slice % v_slices + 1] := k.ring[v_slice % v_slices + 1] + v_change;
    k.used := k.used + v_change;
  end if;
  return k;
end $$;

-- Whether what lost calls have reserved stays until it leaves the interval: the runs of such a limit wait for a provider, which
-- counts in the same way.
create or replace function lanefold._counts_lost(l lanefold._limit)
returns boolean language plpgsql immutable as $$
begin
  return l.per_ms is not null and l.on_exhausted = 'wait';
end $$;

-- Takes from the newest slice. What counts once, runs and requests, is used; the rest is reserved.
create or replace function lanefold._take_limit(k lanefold._limit_bucket, p_amount bigint, p_kind text)
returns lanefold._limit_bucket language plpgsql immutable as $$
declare
  v_place constant int := (k.slice % array_length(k.ring, 1) + 1)::int;
begin
  k.used := k.used + p_amount;
  k.ring[v_place] := k.ring[v_place] + p_amount;
  if p_kind in ('runs', 'requests') then
    k.total := k.total + p_amount;
  else
    k.reserved := k.reserved + p_amount;
  end if;
  return k;
end $$;

-- Whether a limit that refuses nothing gives notice now: more was used, not counting what is reserved, and it has given
-- none since it was set or in this interval.
create or replace function lanefold._limit_notices(l lanefold._limit, k lanefold._limit_bucket, p_at timestamptz)
returns boolean language plpgsql stable as $$
declare
  v_zone constant text := coalesce(l.time_zone, 'UTC');
begin
  if l.on_exhausted <> 'notice' or k.used - k.reserved <= coalesce((l.amounts ->> lanefold._limit_value(k.key))::bigint, l.amount) then
    return false;
  end if;
  return k.noticed_at is null or k.noticed_at < l.updated_at
    or l.per_ms is not null and k.noticed_at <= p_at - l.per_ms * interval '1 ms'
    or l.calendar is not null and date_trunc(l.calendar, k.noticed_at, v_zone) < date_trunc(l.calendar, p_at, v_zone);
end $$;

-- When a bucket may have p_excess less, in ms from now; null if only the end of another run can tell.
create or replace function lanefold._limit_delay_ms(l lanefold._limit, k lanefold._limit_bucket, p_excess bigint, p_at timestamptz)
returns bigint language plpgsql stable as $$
declare
  v_slices constant int := array_length(k.ring, 1);
  v_until timestamptz;
  v_excess bigint := p_excess;
begin
  if p_excess > 0 and l.calendar is not null then
    -- by the clock of the zone, where a day may have 23 hours
    v_until := (date_trunc(l.calendar, p_at at time zone coalesce(l.time_zone, 'UTC')) + ('1 ' || l.calendar)::interval)
      at time zone coalesce(l.time_zone, 'UTC');
  elsif p_excess > 0 and l.per_ms is not null then
    for n in 1 .. v_slices loop
      -- from the oldest one on
      v_excess := v_excess - k.ring[(k.slice + n) % v_slices + 1];
      if v_excess <= 0 then
        v_until := to_timestamp((k.slice + n) * (l.per_ms / 32.0) / 1000);
        exit;
      end if;
    end loop;
  end if;
  v_until := greatest(v_until, case when k.drained_until > p_at then k.drained_until end);
  if v_until is not null then
    return ceil(greatest(extract(epoch from v_until - p_at) * 1000, 1))::bigint;
  end if;
  return null;
end $$;
