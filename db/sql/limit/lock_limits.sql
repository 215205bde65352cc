-- The places that calls and the accounts of their runs name, sorted.
create or replace function lanefold._limit_places(p_calls jsonb, p_accounts lanefold._limit_account[])
returns text[] language plpgsql immutable as $$
begin
  return array(
    select p.place from (
      select jsonb_path_query(p_calls, '$[*].take[*][0]') #>> '{}'
      union all
      select jsonb_path_query(p_calls, '$[*].done[*][0]') #>> '{}'
      union all
      select jsonb_path_query(p_calls, '$[*].check[*]') #>> '{}'
      union all
      select jsonb_path_query(p_calls, '$[*].drain.keyvalue().key') #>> '{}'
      union all
      select jsonb_object_keys(a.holds || coalesce(a.grants, '{}')) from unnest(p_accounts) a
      union all
      select jsonb_path_query(a.wants, '$.take[*][0]') #>> '{}' from unnest(p_accounts) a where a.wants is not null) p (place)
    group by 1 order by 1);
end $$;

-- Locks the buckets at places, which are sorted, and creates those that are missing. Forgets what has left their intervals.
-- The bucket of a removed limit exists as long as something may return to it, and refuses nothing.
create or replace function lanefold._lock_buckets(p_places text[], p_at timestamptz)
returns table (place text, l lanefold._limit, k lanefold._limit_bucket) language plpgsql rows 10 as $$
declare
  r record;
begin
  for r in
    select p.place, m.l, b.k
    from (select x.place, lanefold._parts_of(x.place) as part from unnest(p_places) x (place)) p
    -- limits keep the planner from another order, which would be that of the locks
    cross join lateral (select y as l from lanefold._limit y where y.owner = p.part[1] and y.name = p.part[2] limit 1) m
    left join lateral (
      select y as k from lanefold._limit_bucket y where y.owner = p.part[1] and y.name = p.part[2] and y.key = p.part[3] limit 1 for update) b on true
  loop
    place := r.place;
    l := r.l;
    k := r.k;
    if k.owner is null then
      continue when l.removed_at is not null;
      insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, touched_at, ring)
      select l.owner, l.name, (lanefold._parts_of(place))[3], w.slice, 0, 0, 0, p_at, array_fill(0::bigint, array[w.slices])
      from lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, p_at) w
      on conflict (owner, name, key) do nothing;
      select b.* into k from lanefold._limit_bucket b
      where b.owner = l.owner and b.name = l.name and b.key = (lanefold._parts_of(place))[3] for update;
    end if;
    k := lanefold._forget_slices(k, (lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, p_at)).slice);
    l := lanefold._in_force(l);
    return next;
  end loop;
end $$;

-- A bucket as it is now, without a lock, and its limit. Null if nothing was taken from it yet.
create or replace function lanefold._read_bucket(p_place text, p_at timestamptz, out l lanefold._limit, out k lanefold._limit_bucket)
language plpgsql stable as $$
declare
  v_part constant text[] := lanefold._parts_of(p_place);
  r record;
begin
  select m as l, b as k into r from lanefold._limit m join lanefold._limit_bucket b on b.owner = m.owner and b.name = m.name
  where m.owner = v_part[1] and m.name = v_part[2] and b.key = v_part[3];
  if found then
    l := r.l;
    k := lanefold._forget_slices(r.k, (lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, p_at)).slice);
    l := lanefold._in_force(l);
  end if;
end $$;

-- Owner, name and key of a place.
create or replace function lanefold._parts_of(p_place text)
returns text[] language plpgsql immutable parallel safe as $$
declare
  v_owner constant text := split_part(p_place, ' ', 1);
  v_name constant text := split_part(p_place, ' ', 2);
begin
  return array[v_owner, v_name, substr(p_place, length(v_owner) + length(v_name) + 3)];
end $$;

-- The bucket without what has left its interval, of which p_slice is the newest part.
create or replace function lanefold._forget_slices(k lanefold._limit_bucket, p_slice bigint)
returns lanefold._limit_bucket language plpgsql immutable as $$
declare
  v_slices constant int := array_length(k.ring, 1);
  v_at int;
begin
  for n in 1 .. least(p_slice - k.slice, v_slices)::int loop
    v_at := ((p_slice - n + 1) % v_slices)::int + 1;
    k.used := k.used - k.ring[v_at];
    k.ring[v_at] := 0;
  end loop;
  k.slice := greatest(k.slice, p_slice);  -- the clock may have gone back
  return k;
end $$;

-- The limit; a removed one refuses nothing.
create or replace function lanefold._in_force(l lanefold._limit)
returns lanefold._limit language plpgsql immutable as $$
begin
  if l.removed_at is not null then
    l.amount := 9223372036854775807 / 2;
    l.amounts := null;
    l.reserve := null;
  end if;
  return l;
end $$;
