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
-- A removed limit has its bucket as long as something may return to it, and refuses nothing.
create or replace function lanefold._lock_buckets(p_places text[], p_at timestamptz)
returns table (l lanefold._limit, k lanefold._limit_bucket, place text) language plpgsql rows 10 as $$
declare
  v_now record;
  v_at int;
begin
  insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, ring)
  select m.owner, m.name, x.key, w.slice, 0, 0, 0, array_fill(0::bigint, array[w.slices])
  from (select split_part(p, ' ', 1) as owner, split_part(p, ' ', 2) as name, regexp_replace(p, '^\S+ \S+ ', '') as key from unnest(p_places) p) x
  join lanefold._limit m on m.owner = x.owner and m.name = x.name
  cross join lateral lanefold._limit_window(m.per_ms, m.calendar, m.time_zone, p_at) w
  where m.removed_at is null
    and not exists (select from lanefold._limit_bucket b where b.owner = x.owner and b.name = x.name and b.key = x.key)
  order by 1, 2, 3
  on conflict (owner, name, key) do nothing;
  foreach place in array p_places loop
    select b.* into k from lanefold._limit_bucket b
    where b.owner = split_part(place, ' ', 1) and b.name = split_part(place, ' ', 2) and b.key = regexp_replace(place, '^\S+ \S+ ', '') for update;
    continue when k.owner is null;
    if (l.owner, l.name) is distinct from (k.owner, k.name) then
      select m.* into l from lanefold._limit m where m.owner = k.owner and m.name = k.name;
      v_now := lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, p_at);
      if l.removed_at is not null then
        l.amount := 9223372036854775807 / 2;
        l.amounts := null;
      end if;
    end if;
    for n in 1 .. least(v_now.slice - k.slice, v_now.slices) loop
      v_at := (v_now.slice - n + 1) % v_now.slices + 1;
      k.used := k.used - k.ring[v_at];
      k.ring[v_at] := 0;
    end loop;
    k.slice := greatest(k.slice, v_now.slice);  -- the clock may have gone back
    return next;
  end loop;
end $$;
