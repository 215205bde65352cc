-- What a run holds of a bucket after a change: [reserved, slice of the newest reservation, settled].
create or replace function lanefold._change_hold(p_holds jsonb, p_place text, p_reserved bigint, p_slice bigint, p_settled bigint)
returns jsonb language sql immutable parallel safe as $$
  select p_holds || jsonb_build_object(p_place, jsonb_build_array(coalesce((p_holds -> p_place ->> 0)::bigint, 0) + p_reserved,
    coalesce(p_slice, (p_holds -> p_place ->> 1)::bigint, 0), coalesce((p_holds -> p_place ->> 2)::bigint, 0) + p_settled));
$$;

-- The account of a run that waits no longer.
create or replace function lanefold._out_of_line(a lanefold._limit_account)
returns lanefold._limit_account language plpgsql immutable as $$
begin
  a.wait_owner := null;
  a.wait_name := null;
  a.wait_key := null;
  a.wait_share := null;
  a.until := null;
  return a;
end $$;

-- A run takes one slot, and starts once.
create or replace function lanefold._holds_already(p_kind text, p_hold jsonb)
returns boolean language sql immutable parallel safe as $$
  select coalesce(p_kind = 'concurrency' and (p_hold ->> 0)::bigint > 0 or p_kind = 'runs' and (p_hold ->> 2)::bigint > 0, false);
$$;

-- Stores what use_limits has changed.
create or replace function lanefold._store_limits(p_buckets lanefold._limit_bucket[], p_accounts jsonb)
returns void language plpgsql as $$
begin
  update lanefold._limit_bucket b
  set slice = x.slice, used = x.used, reserved = x.reserved, total = x.total, drained_until = x.drained_until, waiting = x.waiting, turn = x.turn,
      ring = x.ring
  from unnest(p_buckets) x
  where b.owner = x.owner and b.name = x.name and b.key = x.key;
  delete from lanefold._limit_account a using jsonb_each(p_accounts) x
  where x.value ? 'ended' and a.thread_id = x.value ->> 'thread_id' and a.run_id = x.value ->> 'run_id';
  insert into lanefold._limit_account as a
  select r.* from jsonb_each(p_accounts) x cross join lateral jsonb_populate_record(null::lanefold._limit_account, x.value) r
  -- calls that only look have no run
  where not x.value ? 'ended' and r.run_id is not null
  on conflict (thread_id, run_id) do update
  set touched_at = excluded.touched_at, since = excluded.since, until = excluded.until, priority = excluded.priority, granted = excluded.granted,
      holds = excluded.holds, wait_owner = excluded.wait_owner, wait_name = excluded.wait_name, wait_key = excluded.wait_key,
      wait_share = excluded.wait_share, wants = excluded.wants, job = excluded.job;
end $$;

-- Up to p_most accounts that nobody has touched for p_ms, longest first. Touches them, so that the next call returns
-- others.
create or replace function lanefold.idle_limit_accounts(p_ms int, p_most int)
returns table (thread_id text, run_id text) language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  return query
    update lanefold._limit_account a set touched_at = v_at
    from (select k.run_id, k.thread_id from lanefold._limit_account k
          where k.touched_at < v_at - p_ms * interval '1 ms' order by k.touched_at limit p_most for update skip locked) x
    where a.run_id = x.run_id and a.thread_id = x.thread_id
    returning a.thread_id::text, a.run_id::text;
end $$;
