-- What a call of use_limits takes: all of it or nothing. A run that no worker executes takes grants, or waits in line. The
-- arrays and `look` are as in _give_back; p_granted: the grants that the run had before the call, {place: amount}.
create or replace function lanefold._take_or_wait(p_call jsonb, a lanefold._limit_account, p_granted jsonb, p_places text[], p_limits lanefold._limit[],
  p_buckets lanefold._limit_bucket[], p_at timestamptz,
  out answer jsonb, out buckets lanefold._limit_bucket[], out account lanefold._limit_account, out look jsonb)
language plpgsql as $$
declare
  v_granted constant boolean := p_call ? 'granted';
  v_job constant jsonb := case when v_granted then a.job else p_call -> 'job' end;
  v_take constant jsonb := case when v_granted then a.wants -> 'take' else p_call -> 'take' end;
  v_shares constant jsonb := coalesce(case when v_granted then a.wants -> 'shares' else p_call -> 'shares' end, '{}');
  v_lane text;
  v_refused text[] := array[]::text[];
  v_verdict jsonb;
  v_place text;
  n int;
  -- a record for each function, see use_limits
  v_grant record;
  v_taken record;
  v_left record;
begin
  buckets := p_buckets;
  account := a;
  look := '{}';
  answer := jsonb_build_object('ok', true);
  if v_job is not null then
    v_lane := lanefold._limit_lane(v_job, v_take, v_shares);
  end if;
  if v_granted and (v_take is null or not lanefold._lane_attended(v_lane)) then
    answer := jsonb_build_object('late', true);
    return;
  end if;
  if not v_granted then
    account.priority := coalesce((p_call ->> 'priority')::int, account.priority);
    account.since := coalesce((p_call ->> 'since')::timestamptz, account.since, case when v_job is not null then lanefold._now() end);
  end if;

  for j in 0 .. coalesce(jsonb_array_length(v_take), 0) - 1 loop
    v_place := v_take -> j ->> 0;
    n := array_position(p_places, v_place);
    continue when n is null or lanefold._holds_already(p_limits[n].kind, account.holds -> v_place);
    v_verdict := lanefold._ask_limit(p_limits[n], buckets[n], v_place, (v_take -> j ->> 1)::bigint, v_shares ->> v_place,
      p_granted ? v_place or p_limits[n].share is not null and p_call ->> 'granted' = v_place, account, v_lane, p_at);
    continue when v_verdict is null;
    if not v_verdict ?| array['impossible', 'ends'] then
      v_refused := array_append(v_refused, v_place);
      look := look || jsonb_build_object(v_place, coalesce(v_verdict -> 'delay_ms', v_verdict -> 'look_ms'));
      continue when answer ? 'refused';
    end if;
    answer := v_verdict - 'look_ms';
    exit when v_verdict ?| array['impossible', 'ends'];
  end loop;
  if answer ? 'ok' and v_job is not null and not v_granted and not lanefold._lane_attended(v_lane) then
    -- it waits for a worker, and keeps nothing from runs that have one
    v_refused := array[v_take -> 0 ->> 0];
    answer := jsonb_build_object('refused', v_refused[1]);
  end if;

  if answer ? 'ok' and v_take is not null then
    if v_job is not null then
      v_grant := lanefold._grant(account, v_take, p_places, p_limits, buckets);
      buckets := v_grant.buckets;
      account := v_grant.account;
    else
      v_taken := lanefold._take(account, v_take, p_places, p_limits, buckets, p_at);
      buckets := v_taken.buckets;
      account := v_taken.account;
      answer := answer || v_taken.taken;
    end if;
  end if;
  if account.wants is not null and (answer ?| array['ok', 'impossible', 'ends'] or p_call ? 'job') then
    v_left := lanefold._leave_line(account, answer ? 'ok' and v_take is not null, p_places, p_limits, buckets);
    buckets := v_left.buckets;
    account := v_left.account;
    look := look || v_left.look;
  end if;
  if p_call ? 'job' and answer ? 'refused' and not answer ? 'ends' then
    account.job := v_job;
    account.wants := jsonb_build_object('take', v_take, 'shares', v_shares);
    buckets := lanefold._line_up(account, v_lane, v_refused, p_places, buckets);
  elsif v_granted and answer ? 'refused' and not answer ? 'ends' then
    buckets := lanefold._refuse_in_line(account, v_refused, p_places, buckets);
    -- what another bucket refuses may be for the next one, once this is committed
    look := (select jsonb_object_agg(x ->> 0, retry_ms) from jsonb_array_elements(v_take) x, lanefold._look_again_ms() retry_ms) || look;
  end if;
  look := jsonb_strip_nulls(look);
end $$;

-- How soon a place is checked again in which a run was refused though it has room, in ms.
create or replace function lanefold._look_again_ms()
returns int language sql immutable parallel safe as $$ select 20 $$;

-- Takes everything for a call that is made now. `taken`: {slices, passed?}, see use_limits.
create or replace function lanefold._take(a lanefold._limit_account, p_take jsonb, p_places text[], p_limits lanefold._limit[],
  p_buckets lanefold._limit_bucket[], p_at timestamptz,
  out buckets lanefold._limit_bucket[], out account lanefold._limit_account, out taken jsonb)
language plpgsql stable as $$
declare
  v_slices jsonb := jsonb_build_object();
  v_passed jsonb := jsonb_build_array();
  v_place text;
  v_amount bigint;
  n int;
begin
  buckets := p_buckets;
  account := a;
  for j in 0 .. jsonb_array_length(p_take) - 1 loop
    v_place := p_take -> j ->> 0;
    n := array_position(p_places, v_place);
    continue when n is null or lanefold._holds_already(p_limits[n].kind, account.holds -> v_place);
    v_amount := (p_take -> j ->> 1)::bigint;
    buckets[n] := lanefold._take_limit(buckets[n], v_amount, p_limits[n].kind);
    if p_limits[n].kind in ('runs', 'requests') then
      account.holds := lanefold._change_hold(account.holds, v_place, 0, buckets[n].slice, v_amount);
    else
      account.holds := lanefold._change_hold(account.holds, v_place, v_amount, buckets[n].slice, 0);
      v_slices := v_slices || jsonb_build_object(v_place, buckets[n].slice);
    end if;
    if p_limits[n].on_exhausted = 'notice' and lanefold._limit_notices(p_limits[n], buckets[n], p_at) then
      buckets[n].noticed_at := p_at;
      v_passed := v_passed || to_jsonb(v_place);
    end if;
  end loop;
  taken := jsonb_build_object('slices', v_slices) || lanefold._unless_empty('passed', v_passed);
end $$;

-- Sets everything aside for a run that no worker has claimed yet.
create or replace function lanefold._grant(a lanefold._limit_account, p_take jsonb, p_places text[], p_limits lanefold._limit[],
  p_buckets lanefold._limit_bucket[], out buckets lanefold._limit_bucket[], out account lanefold._limit_account)
language plpgsql stable as $$
declare
  v_place text;
  v_amount bigint;
  n int;
begin
  buckets := p_buckets;
  account := a;
  account.grants := '{}';
  for j in 0 .. jsonb_array_length(p_take) - 1 loop
    v_place := p_take -> j ->> 0;
    n := array_position(p_places, v_place);
    continue when n is null or lanefold._holds_already(p_limits[n].kind, account.holds -> v_place);
    v_amount := (p_take -> j ->> 1)::bigint;
    buckets[n].granted := buckets[n].granted + v_amount;
    account.grants := account.grants || jsonb_build_object(v_place, v_amount);
  end loop;
end $$;
