-- What runs with this value of the sharing dimension may use of a bucket: all but what is reserved for other values.
create or replace function lanefold._limit_most(l lanefold._limit, p_key text, p_share text)
returns bigint language plpgsql immutable as $$
declare
  v_most constant bigint := coalesce((l.amounts ->> p_key)::bigint, l.amount);
begin
  if l.reserve is null then
    return v_most;
  end if;
  return greatest(v_most - (select coalesce(sum(value::bigint), 0)::bigint from jsonb_each_text(l.reserve) where key is distinct from p_share), 0);
end $$;

-- What anybody may take of a bucket at least, now; null where that depends on who asks.
create or replace function lanefold._limit_free(l lanefold._limit, k lanefold._limit_bucket, p_at timestamptz)
returns bigint language plpgsql immutable as $$
begin
  if l.reserve is not null or k.waiting > 0 or k.drained_until > p_at or l.on_exhausted = 'notice' then
    return null;
  end if;
  return coalesce((l.amounts ->> k.key)::bigint, l.amount) - k.used;
end $$;

-- Whether a bucket lets a call take this much, after `p_answer`, what the buckets before it have answered. p_first: the run
-- has waited, and goes ahead of those that wait. With 0 slots, runs wait until there are some. See use_limits for the answers.
create or replace function lanefold._ask_limit(l lanefold._limit, k lanefold._limit_bucket, p_place text, p_amount bigint, p_share text, p_first boolean,
  p_answer jsonb, p_at timestamptz)
returns jsonb language plpgsql stable as $$
declare
  v_most constant bigint := lanefold._limit_most(l, k.key, p_share);
begin
  if l.on_exhausted = 'notice' and (k.drained_until > p_at) is not true then
    return p_answer;
  elsif p_amount > v_most and l.kind not in ('concurrency', 'runs') and l.on_exhausted <> 'notice' then
    return jsonb_build_object('impossible', p_place, 'most', v_most);
  elsif l.on_exhausted = 'end' and k.used + p_amount > v_most then
    return jsonb_build_object('refused', p_place, 'ends', true);
  elsif p_answer ? 'refused' or k.used + p_amount <= v_most and (k.drained_until > p_at) is not true
    and (p_first or k.waiting = 0 or l.reserve ? p_share and not lanefold._share_waits(k, p_share)) then
    return p_answer;
  end if;
  return jsonb_strip_nulls(jsonb_build_object('refused', p_place, 'delay_ms', lanefold._limit_delay_ms(l, k, k.used + p_amount - v_most, p_at)));
end $$;

-- Whether a run with this value of the sharing dimension waits for a bucket.
create or replace function lanefold._share_waits(k lanefold._limit_bucket, p_share text)
returns boolean language plpgsql stable as $$
begin
  return exists (
    select from lanefold._limit_account a
    where a.wait_owner = k.owner and a.wait_name = k.name and a.wait_key = k.key and a.wait_share = p_share);
end $$;

-- The waiting runs of a bucket that may go on now: [{thread_id, run_id, take, shares, job}], as use_limits takes them.
-- With shares, values of the sharing dimension take turns: the first run of each counts as due one turn after the last
-- of its value, its second two turns after, and so on; a turn is as long as the weight of the value is small. Within a
-- value, by priority and then by age. Ends with the first run that does not fit, so that a large one is not overtaken
-- for ever, except by runs for whose value something is reserved.
create or replace function lanefold._limit_ready(l lanefold._limit, k lanefold._limit_bucket, p_at timestamptz)
returns jsonb language plpgsql stable as $$
declare
  v_place constant text := lanefold._limit_place(k.owner, k.name, k.key);
  v_slots constant boolean := l.kind in ('concurrency', 'runs');
  v_used bigint := k.used;
  v_full boolean := false;
  v_ready jsonb := jsonb_build_array();
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
    select a.thread_id, a.run_id, a.job, a.wants -> 'take' as take, a.wants -> 'shares' as shares, v.wait_share, m.most,
      coalesce((select (x ->> 1)::bigint from jsonb_array_elements(a.wants -> 'take') x where x ->> 0 = v_place), 0) as amount
    from value v
    cross join lateral (select lanefold._limit_most(l, k.key, v.wait_share) as most) m
    left join lanefold._limit_share s on s.owner = k.owner and s.name = k.name and s.key = k.key and s.share = v.wait_share
    cross join lateral (
      select h.*, row_number() over (order by h.priority, h.since) as place from lanefold._limit_account h
      where h.wait_owner = k.owner and h.wait_name = k.name and h.wait_key = k.key and h.wait_share = v.wait_share
      order by h.priority, h.since limit 50) a
    -- those for whom no slot is left wait until the limit is changed, and delay nobody
    where not v_slots or m.most > 0
    order by greatest(s.turn, k.turn) + a.place / coalesce((l.weights ->> v.wait_share)::float8, 1), a.since
    limit 50
  loop
    continue when v_full and (l.reserve ? w.wait_share) is not true;
    if l.on_exhausted = 'notice' or v_used + w.amount <= w.most then
      v_used := v_used + w.amount;
    elsif w.amount <= w.most or v_slots then
      exit when l.reserve is null;
      v_full := true;
      continue;
    end if;
    -- also a run that needs more than the whole limit: it ends
    v_ready := v_ready || jsonb_build_array(to_jsonb(w) - array['wait_share', 'amount', 'most']);
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
