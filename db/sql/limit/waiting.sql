-- The waiting runs of a bucket that may go on now: [{thread_id, run_id, take, job}], as use_limits takes them.
-- With shares, values of the sharing dimension take turns: the first run of each counts as due one turn after the last
-- of its value, its second two turns after, and so on; a turn is as long as the weight of the value is small. Within a
-- value, by priority and then by age. Ends with the first run that does not fit, so that a large one is not overtaken
-- for ever.
create or replace function lanefold._limit_ready(l lanefold._limit, k lanefold._limit_bucket, p_at timestamptz)
returns jsonb language plpgsql stable as $$
declare
  v_place constant text := lanefold._limit_place(k.owner, k.name, k.key);
  v_room bigint := coalesce((l.amounts ->> k.key)::bigint, l.amount) - k.used;
  v_ready jsonb := '[]';
  w record;
begin
  if k.drained_until > p_at then
    return v_ready;
  end if;
  for w in
    with recursive value as (
      (select wait_share from lanefold._limit_account
       where wait_owner = k.owner and wait_name = k.name and wait_key = k.key order by wait_share limit 1)
      union all
      select (select a.wait_share from lanefold._limit_account a
        where a.wait_owner = k.owner and a.wait_name = k.name and a.wait_key = k.key and a.wait_share > v.wait_share
        order by a.wait_share limit 1)
      from value v where v.wait_share is not null
    )
    select a.thread_id, a.run_id, a.job, a.wants -> 'take' as take
    from value v
    left join lanefold._limit_share s on s.owner = k.owner and s.name = k.name and s.key = k.key and s.share = v.wait_share
    cross join lateral (
      select h.*, row_number() over (order by h.priority, h.since) as place from lanefold._limit_account h
      where h.wait_owner = k.owner and h.wait_name = k.name and h.wait_key = k.key and h.wait_share = v.wait_share
      order by h.priority, h.since limit 50) a
    order by greatest(s.turn, k.turn) + a.place / coalesce((l.weights ->> v.wait_share)::float8, 1), a.since
    limit 50
  loop
    v_room := v_room - coalesce((w.take ->> v_place)::bigint, 0);
    exit when v_room < 0;
    v_ready := v_ready || jsonb_build_array(to_jsonb(w));
  end loop;
  return v_ready;
end $$;

-- A waiting run goes on: its value of the sharing dimension has had its turn. Returns when that turn was due.
create or replace function lanefold._take_turn(l lanefold._limit, a lanefold._limit_account, p_turn float8)
returns float8 language plpgsql as $$
declare
  v_turn float8;
begin
  if l.share is null then
    return p_turn;
  end if;
  insert into lanefold._limit_share as s (owner, name, key, share, turn)
  values (a.wait_owner, a.wait_name, a.wait_key, a.wait_share, p_turn + 1 / coalesce((l.weights ->> a.wait_share)::float8, 1))
  on conflict (owner, name, key, share) do update
  set turn = greatest(s.turn, p_turn) + 1 / coalesce((l.weights ->> a.wait_share)::float8, 1)
  returning s.turn into v_turn;
  return v_turn - 1 / coalesce((l.weights ->> a.wait_share)::float8, 1);
end $$;
