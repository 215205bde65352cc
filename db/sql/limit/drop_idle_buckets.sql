-- Deletes the buckets untouched for p_days and in which nothing counts any more, and the turns that no longer
-- order anybody. Looks at the p_most buckets after the one at p_after, {owner, name, key}, in their order; null: the first
-- ones. Returns the last one it looked at, null at the end. The total of what it deletes is added to the bucket with the
-- empty key: of a limit with `*` in its scope, no run uses that one. Buckets of removed limits stay: the limit may be set
-- again.
create or replace function lanefold.drop_idle_buckets(p_after text[], p_days float8, p_most int)
returns text[] language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_after constant text[] := coalesce(p_after, array['', '', '']);
  v_last text[];
  v_total bigint;
  l record;
  k record;
begin
  v_last := (
    select array[x.owner, x.name, x.key] from (
      select b.owner, b.name, b.key from lanefold._limit_bucket b
      where (b.owner, b.name, b.key) > (v_after[1], v_after[2], v_after[3])
      order by b.owner, b.name, b.key limit p_most) x
    order by x.owner desc, x.name desc, x.key desc limit 1);
  for l in
    select m.owner, m.name, w.slice, w.slices from lanefold._limit m
    cross join lateral lanefold._limit_window(m.per_ms, m.calendar, m.time_zone, v_at) w
    where (m.owner, m.name) >= (v_after[1], v_after[2]) and (m.owner, m.name) <= (v_last[1], v_last[2]) and m.removed_at is null
    order by m.owner, m.name
  loop
    v_total := 0;
    for k in
      select b.key, b.total from lanefold._limit_bucket b
      where b.owner = l.owner and b.name = l.name and b.key <> ''
        and (b.owner, b.name, b.key) > (v_after[1], v_after[2], v_after[3]) and (b.owner, b.name, b.key) <= (v_last[1], v_last[2], v_last[3])
        and b.touched_at < v_at - p_days * interval '1 day' and b.reserved = 0 and b.granted = 0 and b.lined = 0
        and (b.drained_until > v_at) is not true and (b.used = 0 or b.slice <= l.slice - l.slices)
      -- a locked bucket is in use
      for update skip locked
    loop
      delete from lanefold._limit_share s where s.owner = l.owner and s.name = l.name and s.key = k.key;
      delete from lanefold._limit_bucket b where b.owner = l.owner and b.name = l.name and b.key = k.key;
      v_total := v_total + k.total;
    end loop;
    if v_total > 0 then
      insert into lanefold._limit_bucket as b (owner, name, key, slice, used, reserved, total, touched_at, ring)
      values (l.owner, l.name, '', l.slice, 0, 0, v_total, v_at, array_fill(0::bigint, array[l.slices]))
      on conflict (owner, name, key) do update set total = b.total + excluded.total;
    end if;
  end loop;
  -- a value without a turn counts from the bucket's; see _limit_ready
  delete from lanefold._limit_share s where (s.owner, s.name, s.key, s.share) in (
    select x.owner, x.name, x.key, x.share from lanefold._limit_share x
    join lanefold._limit_bucket c on c.owner = x.owner and c.name = x.name and c.key = x.key
    where (x.owner, x.name, x.key) > (v_after[1], v_after[2], v_after[3])
      and (x.owner, x.name, x.key) <= (v_last[1], v_last[2], v_last[3]) and x.turn <= c.turn
    for update of x skip locked);
  return v_last;
end $$;
