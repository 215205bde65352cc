-- Moves the buckets of a limit, and what runs have reserved of them, to another interval: what still counts in the old one
-- counts as used just now. Locks accounts and buckets in the order of use_limits. `o` is the limit as the database has it.
create or replace function lanefold._change_interval(o lanefold._limit, l lanefold._limit, p_at timestamptz)
returns void language plpgsql as $$
declare
  v_prefix constant text := lanefold._limit_place(l.owner, l.name, '');
  v_now record;
  v_slice jsonb;
  r record;
begin
  v_now := lanefold._limit_window(l.per_ms, l.calendar, l.time_zone, p_at);
  v_slice := to_jsonb(v_now.slice);
  for r in
    select a.thread_id, a.run_id, a.holds from lanefold._limit_account a
    where exists (select from jsonb_object_keys(a.holds) p where starts_with(p, v_prefix))
    order by a.thread_id, a.run_id for update
  loop
    update lanefold._limit_account a
    set holds = (select jsonb_object_agg(h.key, case when starts_with(h.key, v_prefix) then jsonb_set(h.value, '{1}', v_slice) else h.value end)
                 from jsonb_each(a.holds) h)
    where a.run_id = r.run_id and a.thread_id = r.thread_id;
  end loop;
  for r in
    select (b.k).key, (b.k).used from lanefold._lock_buckets(array(
      select lanefold._limit_place(b.owner, b.name, b.key) from lanefold._limit_bucket b where b.owner = o.owner and b.name = o.name order by 1), p_at) b
  loop
    update lanefold._limit_bucket b
    set slice = v_now.slice, used = r.used,
        ring = array_fill(0::bigint, array[(v_now.slice % v_now.slices)::int]) || r.used
          || array_fill(0::bigint, array[(v_now.slices - 1 - v_now.slice % v_now.slices)::int])
    where b.owner = o.owner and b.name = o.name and b.key = r.key;
  end loop;
end $$;
