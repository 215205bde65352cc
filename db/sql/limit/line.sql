-- The line of waiting runs. A run waits in one line, with a row for each bucket that it needs. One order holds in all of
-- them: priority, since when, id. A run is next if every bucket has room for it, after what earlier runs of the line can use
-- now. What a run cannot use, because another bucket has no room for it, it keeps from no other run. So the first run of the
-- line is next as soon as there is room for it, and runs that need different buckets never wait for each other.

-- Runs of a lane need the same buckets, with the same values of the sharing dimensions, and the same workers: none of them
-- can be next before the first one.
create or replace function lanefold._limit_lane(p_job jsonb, p_take jsonb, p_shares jsonb)
returns text language plpgsql immutable parallel safe as $$
begin
  return concat(p_job ->> 'prefix', '|', p_job ->> 'agent', '|', p_job ->> 'version', '|', p_job ->> 'strategy', '#',
    md5((select string_agg(x ->> 0, '|') from jsonb_array_elements(p_take) x) || p_shares::text));
end $$;

-- Whether a live worker can execute the runs of a lane.
create or replace function lanefold._lane_attended(p_lane text)
returns boolean language plpgsql stable as $$
declare
  v_needs constant text[] := string_to_array(split_part(p_lane, '#', 1), '|', '');
begin
  return v_needs[1] is null or lanefold._is_attended(v_needs[1], v_needs[2], v_needs[3], v_needs[4]);
end $$;

-- The lanes of a bucket, each found with one look into the index.
create or replace function lanefold._limit_lanes(p_owner text, p_name text, p_key text)
returns setof text language plpgsql stable rows 10 as $$
declare
  v_lane text := '';
begin
  loop
    select w.lane into v_lane from lanefold._limit_wait w
    where w.owner = p_owner and w.name = p_name and w.key = p_key and w.lane > v_lane order by w.lane limit 1;
    exit when v_lane is null;
    return next v_lane;
  end loop;
end $$;

-- Whether runs that come before this one in the line can use what would leave p_room of the bucket.
create or replace function lanefold._is_behind(l lanefold._limit, k lanefold._limit_bucket, p_place text, p_room bigint, p_share text,
  a lanefold._limit_account, p_lane text, p_at timestamptz)
returns boolean language plpgsql stable as $$
declare
  v_room bigint := p_room;
  v_own constant boolean := coalesce(l.reserve ? p_share, false);  -- part of the amount is reserved for the run's value
  v_lane text;
  w record;
begin
  for v_lane in select lanefold._limit_lanes(k.owner, k.name, k.key) loop
    continue when not lanefold._lane_attended(v_lane);
    for w in
      select x.thread_id, x.run_id, x.share, x.amount from lanefold._limit_wait x
      where x.owner = k.owner and x.name = k.name and x.key = k.key and x.lane = v_lane
        and (x.priority, x.since, x.thread_id, x.run_id) < (a.priority, a.since, a.thread_id, a.run_id)
      order by x.priority, x.since, x.thread_id, x.run_id
    loop
      exit when v_own and w.share <> p_share;
      if v_lane = p_lane then
        return true;
      end if;
      exit when w.amount > lanefold._limit_most(l, k.key, w.share) or lanefold._no_room_elsewhere(w.thread_id, w.run_id, p_place, p_at) is not null;
      v_room := v_room - w.amount;
      if v_room < 0 then
        return true;
      end if;
    end loop;
  end loop;
  return false;
end $$;

-- The first bucket but p_place that has no room for a waiting run: {place, delay_ms?}, or null. Reads without locks.
create or replace function lanefold._no_room_elsewhere(p_thread_id text, p_run_id text, p_place text, p_at timestamptz)
returns jsonb language plpgsql stable as $$
declare
  a lanefold._limit_account;
  r record;
  v_place text;
  v_amount bigint;
begin
  select h.* into a from lanefold._limit_account h where h.run_id = p_run_id and h.thread_id = p_thread_id;
  for v_place, v_amount in select x ->> 0, (x ->> 1)::bigint from jsonb_array_elements(a.wants -> 'take') x where x ->> 0 <> p_place loop
    r := lanefold._read_bucket(v_place, p_at);
    continue when (r.k).owner is null or lanefold._holds_already((r.l).kind, a.holds -> v_place)
      -- it ends when it asks
      or v_amount > lanefold._limit_most(r.l, (r.k).key, a.wants -> 'shares' ->> v_place) and (r.l).kind not in ('concurrency', 'runs')
      or (r.l).on_exhausted = 'end'
      or lanefold._has_room(r.l, r.k, v_amount, a.wants -> 'shares' ->> v_place, p_at);
    return jsonb_strip_nulls(jsonb_build_object('place', v_place, 'delay_ms', lanefold._limit_delay_ms(r.l, r.k,
      (r.k).used + (r.k).granted + v_amount - lanefold._limit_most(r.l, (r.k).key, a.wants -> 'shares' ->> v_place), p_at)));
  end loop;
  return null;
end $$;

-- Whether a waiting run is behind others in a bucket but p_place, each of which has room for it. Reads without locks.
create or replace function lanefold._is_behind_elsewhere(p_thread_id text, p_run_id text, p_lane text, p_place text, p_at timestamptz)
returns boolean language plpgsql stable as $$
declare
  a lanefold._limit_account;
  r record;
  v_place text;
  v_amount bigint;
  v_share text;
begin
  select h.* into a from lanefold._limit_account h where h.run_id = p_run_id and h.thread_id = p_thread_id;
  for v_place, v_amount in select x ->> 0, (x ->> 1)::bigint from jsonb_array_elements(a.wants -> 'take') x where x ->> 0 <> p_place loop
    r := lanefold._read_bucket(v_place, p_at);
    v_share := a.wants -> 'shares' ->> v_place;
    if (r.k).lined > 0 and (r.l).on_exhausted = 'wait' and not lanefold._holds_already((r.l).kind, a.holds -> v_place)
      and lanefold._is_behind(r.l, r.k, v_place, lanefold._limit_most(r.l, (r.k).key, v_share) - (r.k).used - (r.k).granted - v_amount, v_share, a, p_lane, p_at)
    then
      return true;
    end if;
  end loop;
  return false;
end $$;

-- The waiting runs that can be next in a bucket: [{place, thread_id, run_id, job}]. `look`: {place: ms}, when to check again.
-- With shares, values of the sharing dimension take turns: the first run of each counts as due one turn after the last of its
-- value, its second two turns after, and so on; the larger the share of a value, the shorter its turn. Else, and within a
-- value, in the order of the line. Ends with the first run that only this bucket has no room for, so that a large one is not
-- overtaken for ever, except by runs for whose value something is reserved.
create or replace function lanefold._limit_ready(l lanefold._limit, k lanefold._limit_bucket, p_place text, p_at timestamptz,
  out ready jsonb, out look jsonb)
language plpgsql stable as $$
declare
  v_most_ready constant int := 50;
  v_used bigint := k.used + k.granted;
  v_full boolean := false;
  v_passed_over text[] := array[]::text[];  -- lanes whose first run waits for another bucket, or for a worker
  v_share_most bigint;
  v_elsewhere jsonb;
  w record;
begin
  ready := '[]';
  look := '{}';
  if k.drained_until > p_at then
    look := jsonb_build_object(p_place, lanefold._limit_delay_ms(l, k, 0, p_at));
    return;
  end if;
  for w in
    select x.*, h.job from (
      select c.*, row_number() over (partition by c.share order by c.priority, c.since, c.thread_id, c.run_id) as place
      from lanefold._limit_lanes(k.owner, k.name, k.key) n (lane)
      cross join lateral (
        select q.* from lanefold._limit_wait q
        where q.owner = k.owner and q.name = k.name and q.key = k.key and q.lane = n.lane
        order by q.priority, q.since, q.thread_id, q.run_id limit v_most_ready) c
      where lanefold._lane_attended(n.lane)) x
    join lanefold._limit_account h on h.run_id = x.run_id and h.thread_id = x.thread_id
    left join lanefold._limit_share s on s.owner = k.owner and s.name = k.name and s.key = k.key and s.share = x.share
    order by case when l.share_by is not null then greatest(s.turn, k.turn) + x.place / coalesce((l.shares ->> x.share)::float8, 1) end,
      case when l.share_by is null then x.priority end, x.since, x.thread_id, x.run_id
  loop
    v_share_most := lanefold._limit_most(l, k.key, w.share);
    continue when w.lane = any (v_passed_over) or v_full and (l.reserve ? w.share) is not true
      -- a run for which no slot is left waits until the limit is changed, and delays no other
      or l.kind in ('concurrency', 'runs') and v_share_most <= 0;
    v_elsewhere := lanefold._no_room_elsewhere(w.thread_id, w.run_id, p_place, p_at);
    if v_elsewhere is not null then
      v_passed_over := array_append(v_passed_over, w.lane);
      look := look || jsonb_strip_nulls(jsonb_build_object(v_elsewhere ->> 'place', v_elsewhere -> 'delay_ms'));
      continue;
    elsif l.on_exhausted = 'notice' or v_used + w.amount <= v_share_most then
      v_used := v_used + w.amount;
      if lanefold._is_behind_elsewhere(w.thread_id, w.run_id, w.lane, p_place, p_at) then
        -- it is next once the runs before it are, and keeps its room here until then
        v_passed_over := array_append(v_passed_over, w.lane);
        continue;
      end if;
    elsif l.on_exhausted = 'wait' and (w.amount <= v_share_most or l.kind in ('concurrency', 'runs')) then
      look := jsonb_strip_nulls(jsonb_build_object(p_place, lanefold._limit_delay_ms(l, k, v_used + w.amount - v_share_most, p_at))) || look;
      exit when l.reserve is null;
      v_full := true;
      v_passed_over := array_append(v_passed_over, w.lane);
      continue;
    end if;
    -- also a run that needs more than the whole limit: it ends
    ready := ready || jsonb_build_object('place', p_place, 'thread_id', w.thread_id, 'run_id', w.run_id, 'job', w.job);
    if jsonb_array_length(ready) = v_most_ready then
      look := look || jsonb_build_object(p_place, 0);
      exit;
    end if;
  end loop;
end $$;

-- Puts a run in line, in every bucket that it needs.
create or replace function lanefold._line_up(w lanefold._limit_work, p_lane text, p_refused text[])
returns lanefold._limit_work language plpgsql as $$
declare
  a constant lanefold._limit_account := w.account;
  k lanefold._limit_bucket;
  v_take jsonb;
  v_place text;
  n int;
begin
  for v_take in select value from jsonb_array_elements(a.wants -> 'take') loop
    v_place := v_take ->> 0;
    n := array_position(w.places, v_place);
    continue when n is null;
    k := w.buckets[n];
    insert into lanefold._limit_wait (owner, name, key, lane, share, priority, since, thread_id, run_id, amount, refused)
    values (k.owner, k.name, k.key, p_lane, coalesce(a.wants -> 'shares' ->> v_place, ''), a.priority, a.since, a.thread_id, a.run_id,
      (v_take ->> 1)::bigint, v_place = any (p_refused));
    w.buckets[n].lined := k.lined + 1;
    w.buckets[n].waiting := k.waiting + (v_place = any (p_refused))::int;
  end loop;
  return w;
end $$;

-- Takes a run out of the line. p_served: its turn has come, and with it that of its value of a sharing dimension.
create or replace function lanefold._leave_line(w lanefold._limit_work, p_served boolean)
returns lanefold._limit_work language plpgsql as $$
declare
  v_thread constant text := (w.account).thread_id;
  v_run constant text := (w.account).run_id;
  r record;
  n int;
begin
  w.account.wants := null;
  w.account.job := null;
  for r in
    delete from lanefold._limit_wait x where x.run_id = v_run and x.thread_id = v_thread
    returning lanefold._limit_place(x.owner, x.name, x.key) as place, x.share, x.refused
  loop
    n := array_position(w.places, r.place);
    continue when n is null;
    w.buckets[n].lined := w.buckets[n].lined - 1;
    w.buckets[n].waiting := w.buckets[n].waiting - r.refused::int;
    if p_served and w.limits[n].share_by is not null then
      w.buckets[n].turn := greatest(w.buckets[n].turn, lanefold._take_turn(w.limits[n], w.buckets[n], r.share));
    end if;
    w.look := w.look || jsonb_build_object(r.place, 0);
  end loop;
  return w;
end $$;

-- Notes which buckets have refused a waiting run now.
create or replace function lanefold._refuse_in_line(w lanefold._limit_work, p_refused text[])
returns lanefold._limit_work language plpgsql as $$
declare
  v_thread constant text := (w.account).thread_id;
  v_run constant text := (w.account).run_id;
  r record;
  n int;
begin
  for r in
    update lanefold._limit_wait x set refused = not x.refused
    where x.run_id = v_run and x.thread_id = v_thread and x.refused <> (lanefold._limit_place(x.owner, x.name, x.key) = any (p_refused))
    returning lanefold._limit_place(x.owner, x.name, x.key) as place, x.refused
  loop
    n := array_position(w.places, r.place);
    continue when n is null;
    w.buckets[n].waiting := w.buckets[n].waiting + case when r.refused then 1 else -1 end;
  end loop;
  return w;
end $$;

-- The turn of a value of the sharing dimension has come. Returns when it was due.
create or replace function lanefold._take_turn(l lanefold._limit, k lanefold._limit_bucket, p_share text)
returns float8 language plpgsql as $$
declare
  v_length constant float8 := 1 / coalesce((l.shares ->> p_share)::float8, 1);
  v_turn float8;
begin
  insert into lanefold._limit_share as s (owner, name, key, share, turn)
  values (k.owner, k.name, k.key, p_share, k.turn + v_length)
  on conflict (owner, name, key, share) do update set turn = greatest(s.turn, k.turn) + v_length
  returning s.turn into v_turn;
  return v_turn - v_length;
end $$;
