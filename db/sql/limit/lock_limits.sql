-- The places that calls and the accounts of their runs name.
create or replace function lanefold._limit_places(p_calls jsonb, p_accounts lanefold._limit_account[])
returns text[] language plpgsql immutable as $$
begin
  return array(
    select p.place from (
      select x ->> 0 from jsonb_array_elements(p_calls) c, jsonb_array_elements(c -> 'take') x
      union all
      select x ->> 0 from jsonb_array_elements(p_calls) c, jsonb_array_elements(c -> 'done') x
      union all
      select jsonb_object_keys(c -> 'drain') from jsonb_array_elements(p_calls) c where c ? 'drain'
      union all
      select jsonb_array_elements_text(c -> 'check') from jsonb_array_elements(p_calls) c
      union all
      select jsonb_object_keys(a.holds) from unnest(p_accounts) a
      union all
      select lanefold._limit_place(a.wait_owner, a.wait_name, a.wait_key) from unnest(p_accounts) a) p (place)
    where p.place is not null
    group by 1 order by 1);
end $$;

-- Locks the buckets at places, which are sorted, and creates those that are missing. Forgets what has left their intervals.
-- The bucket of a removed limit exists as long as something may return to it.
create or replace function lanefold._lock_buckets(p_places text[], p_at timestamptz)
returns setof lanefold._limit_bucket language plpgsql rows 10 as $$
declare
  l lanefold._limit;
  k lanefold._limit_bucket;
  place text;
  v_now record;
  v_at int;
begin
  foreach place in array p_places loop
    k := lanefold._lock_bucket(place);
    if k.owner is null then
      insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, touched_at, ring)
      select m.owner, m.name, regexp_replace(place, '^\S+ \S+ ', ''), w.slice, 0, 0, 0, p_at, array_fill(0::bigint, array[w.slices])
      from lanefold._limit m
      cross join lateral lanefold._limit_window(m.per_ms, m.calendar, m.time_zone, p_at) w
      where m.owner = split_part(place, ' ', 1) and m.name = split_part(place, ' ', 2) and m.removed_at is null
      on conflict (owner, name, key) do nothing;
      k := lanefold._lock_bucket(place);
      continue when k.owner is null;
    end if;
    if (l.owner, l.name) is distinct from (k.owner, k.name) then
      l := lanefold._limit_of(k);
      v_now := lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, p_at);
    end if;
    for n in 1 .. least(v_now.slice - k.slice, v_now.slices)::int loop
      v_at := ((v_now.slice - n + 1) % v_now.slices)::int + 1;
      k.used := k.used - k.ring[v_at];
      k.ring[v_at] := 0;
    end loop;
    k.slice := greatest(k.slice, v_now.slice);  -- the clock may have gone back
    return next k;
  end loop;
end $$;

create or replace function lanefold._lock_bucket(p_place text)
returns lanefold._limit_bucket language plpgsql as $$
declare
  v_owner constant text := split_part(p_place, ' ', 1);
  v_name constant text := split_part(p_place, ' ', 2);
  v_key constant text := substr(p_place, length(v_owner) + length(v_name) + 3);
  k lanefold._limit_bucket;
begin
  select b.* into k from lanefold._limit_bucket b where b.owner = v_owner and b.name = v_name and b.key = v_key for update;
  return k;
end $$;

-- The limit of a bucket. A removed one refuses nothing.
create or replace function lanefold._limit_of(k lanefold._limit_bucket)
returns lanefold._limit language plpgsql stable as $$
declare
  l lanefold._limit;
begin
  select m.* into l from lanefold._limit m where m.owner = k.owner and m.name = k.name;
  if l.removed_at is not null then
    l.amount := 9223372036854775807 / 2;
    l.amounts := null;
  end if;
  return l;
end $$;
