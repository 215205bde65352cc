-- Deletes the buckets that nobody has touched for p_ms and in which nothing counts any more, and the turns that no longer
-- order anybody. Looks at the p_most buckets after the one at p_after, {owner, name, key}, in their order; null: the first
-- ones. Returns the last one it looked at, null at the end. What deleted buckets have settled is added to the bucket with
-- the empty key, which a limit with `*` in its scope uses for nothing else.
create or replace function lanefold.drop_idle_buckets(p_after text[], p_ms bigint, p_most int)
returns text[] language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_idle_since constant timestamptz := v_at - p_ms * interval '1 ms';
  v_places text[] := array[]::text[];
  v_last text[];
  b record;
  k lanefold._limit_bucket;
begin
  for b in
    select x.owner, x.name, x.key,
      x.key <> '' and x.touched_at < v_idle_since and x.reserved = 0 and x.waiting = 0 and (x.used = 0 or x.slice <= w.slice - w.slices) as idle
    from lanefold._limit_bucket x
    join lanefold._limit l on l.owner = x.owner and l.name = x.name
    cross join lateral lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, v_at) w
    where p_after is null or (x.owner, x.name, x.key) > (p_after[1], p_after[2], p_after[3])
    order by x.owner, x.name, x.key limit p_most
  loop
    v_last := array[b.owner, b.name, b.key];
    continue when not b.idle;
    v_places := v_places || array[lanefold._limit_place(b.owner, b.name, ''), lanefold._limit_place(b.owner, b.name, b.key)];
  end loop;
  -- in the order in which use_limits locks them
  for k in select * from lanefold._lock_buckets(array(select distinct p.place from unnest(v_places) p (place) order by 1), v_at) loop
    continue when k.key = '' or k.touched_at >= v_idle_since or k.used <> 0 or k.reserved <> 0 or k.waiting <> 0 or k.drained_until > v_at;
    delete from lanefold._limit_share s where s.owner = k.owner and s.name = k.name and s.key = k.key;
    delete from lanefold._limit_bucket x where x.owner = k.owner and x.name = k.name and x.key = k.key;
    update lanefold._limit_bucket x set total = x.total + k.total where x.owner = k.owner and x.name = k.name and x.key = '';
  end loop;
  -- a value without a turn counts from the bucket's; see _limit_ready
  delete from lanefold._limit_share s where (s.owner, s.name, s.key, s.share) in (
    select x.owner, x.name, x.key, x.share from lanefold._limit_share x
    join lanefold._limit_bucket c on c.owner = x.owner and c.name = x.name and c.key = x.key
    where (p_after is null or (x.owner, x.name, x.key) > (p_after[1], p_after[2], p_after[3]))
      and (x.owner, x.name, x.key) <= (v_last[1], v_last[2], v_last[3]) and x.turn <= c.turn
    limit p_most for update of x skip locked);
  return v_last;
end $$;
