-- Locks the accounts of the runs that calls name, in one order, and creates those that are missing of runs that take:
-- two processes may ask for one run at once, and a row that does not exist cannot be locked. A granted run has an account,
-- or has ended.
create or replace function lanefold._lock_accounts(p_calls jsonb, p_at timestamptz)
returns setof lanefold._limit_account language plpgsql rows 10 as $$
begin
  if p_calls @? '$[*].take' then
    insert into lanefold._limit_account (thread_id, run_id, holds, touched_at)
    select distinct c ->> 'thread_id', c ->> 'run_id', '{}'::jsonb, p_at from jsonb_array_elements(p_calls) c
    where c ? 'take' and not exists (
      select from lanefold._limit_account h where h.run_id = c ->> 'run_id' and h.thread_id = c ->> 'thread_id')
    order by 1, 2
    on conflict (run_id, thread_id) do nothing;
  end if;
  return query
    select h.* from (select distinct c ->> 'thread_id' as thread_id, c ->> 'run_id' as run_id from jsonb_array_elements(p_calls) c order by 1, 2) x
    cross join lateral (
      select k.* from lanefold._limit_account k where k.run_id = x.run_id and k.thread_id = x.thread_id for update) h;
end $$;

-- The account of a run that has none.
create or replace function lanefold._new_account(p_call jsonb, p_at timestamptz)
returns lanefold._limit_account language plpgsql immutable as $$
declare
  a lanefold._limit_account;
begin
  a.thread_id := p_call ->> 'thread_id';
  a.run_id := p_call ->> 'run_id';
  a.holds := '{}';
  a.priority := 0;
  a.touched_at := p_at;
  return a;
end $$;

-- What a run holds of a bucket after a change: [reserved, slice of the newest reservation, settled].
create or replace function lanefold._change_hold(p_holds jsonb, p_place text, p_reserved bigint, p_slice bigint, p_settled bigint)
returns jsonb language plpgsql immutable parallel safe as $$
declare
  v_hold constant jsonb := coalesce(p_holds -> p_place, '[0, 0, 0]');
begin
  return p_holds || jsonb_build_object(p_place, jsonb_build_array((v_hold ->> 0)::bigint + p_reserved,
    coalesce(p_slice, (v_hold ->> 1)::bigint), (v_hold ->> 2)::bigint + p_settled));
end $$;

-- A run takes one slot, and starts once.
create or replace function lanefold._holds_already(p_kind text, p_hold jsonb)
returns boolean language plpgsql immutable parallel safe as $$
begin
  if p_kind = 'concurrency' then
    return coalesce((p_hold ->> 0)::bigint > 0, false);
  end if;
  return p_kind = 'runs' and coalesce((p_hold ->> 2)::bigint > 0, false);
end $$;

-- Stores what use_limits has changed at p_at. p_ended: positions of the accounts whose runs have ended.
create or replace function lanefold._store_limits(p_buckets lanefold._limit_bucket[], p_accounts lanefold._limit_account[], p_ended int[], p_at timestamptz)
returns void language plpgsql as $$
begin
  update lanefold._limit_bucket b
  set slice = k.slice, used = k.used, reserved = k.reserved, granted = k.granted, total = k.total, drained_until = k.drained_until,
      noticed_at = k.noticed_at, lined = k.lined, waiting = k.waiting, turn = k.turn, touched_at = p_at, ring = k.ring
  from unnest(p_buckets) k
  where b.owner = k.owner and b.name = k.name and b.key = k.key;
  if cardinality(p_ended) > 0 then
    delete from lanefold._limit_account b using unnest(p_ended) e (at)
    where b.run_id = p_accounts[e.at].run_id and b.thread_id = p_accounts[e.at].thread_id;
  end if;
  if cardinality(p_ended) < cardinality(p_accounts) then
    update lanefold._limit_account b
    set touched_at = a.touched_at, since = a.since, priority = a.priority, holds = a.holds, grants = a.grants, wants = a.wants, job = a.job
    from unnest(p_accounts) a
    where b.run_id = a.run_id and b.thread_id = a.thread_id;
  end if;
end $$;

-- Up to p_most accounts that no process has touched for p_ms, longest first. Touches them, so that the next call returns
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

-- Up to p_most runs for which other runs wait: they have a grant or a slot of a bucket with a line, and no process has
-- touched their accounts for p_ms.
create or replace function lanefold.holding_limit_accounts(p_ms int, p_most int)
returns table (thread_id text, run_id text) language plpgsql stable as $$
begin
  return query
    select a.thread_id::text, a.run_id::text from lanefold._limit_account a
    where a.wants is null and a.touched_at < lanefold._now() - p_ms * interval '1 ms'
      and exists (
        select from jsonb_each(coalesce(a.grants, '{}') || a.holds) h
        join lanefold._limit_bucket b on lanefold._limit_place(b.owner, b.name, b.key) = h.key
          and b.owner = split_part(h.key, ' ', 1) and b.name = split_part(h.key, ' ', 2)
        join lanefold._limit l on l.owner = b.owner and l.name = b.name
        where b.lined > 0 and (a.grants ? h.key or l.kind = 'concurrency' and (h.value ->> 0)::bigint > 0))
    order by a.touched_at limit p_most;
end $$;
