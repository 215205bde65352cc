-- What a call of use_limits takes: all of it or nothing. A run that no worker executes takes grants, or waits in line.
-- p_granted: the grants that the run had before the call, {place: amount}.
create or replace function lanefold._take_or_wait(p_call jsonb, w lanefold._limit_work, p_granted jsonb, p_at timestamptz)
returns lanefold._limit_work language plpgsql as $$
declare
  v_granted constant boolean := p_call ? 'granted';
  v_job constant jsonb := case when v_granted then (w.account).job else p_call -> 'job' end;
  v_take constant jsonb := case when v_granted then (w.account).wants -> 'take' else p_call -> 'take' end;
  v_shares constant jsonb := coalesce(case when v_granted then (w.account).wants -> 'shares' else p_call -> 'shares' end, '{}');
  v_lane text;
  v_refused text[] := array[]::text[];
  v_verdict jsonb;
  v_place text;
  n int;
begin
  if v_job is not null then
    v_lane := lanefold._limit_lane(v_job, v_take, v_shares);
  end if;
  if v_granted and (v_take is null or not lanefold._lane_attended(v_lane)) then
    w.answer := jsonb_build_object('late', true);
    return w;
  end if;
  if not v_granted then
    w.account.priority := coalesce((p_call ->> 'priority')::int, (w.account).priority);
    w.account.since := coalesce((p_call ->> 'since')::timestamptz, (w.account).since, case when v_job is not null then lanefold._now() end);
  end if;

  for j in 0 .. coalesce(jsonb_array_length(v_take), 0) - 1 loop
    v_place := v_take -> j ->> 0;
    n := array_position(w.places, v_place);
    continue when n is null or lanefold._holds_already(w.limits[n].kind, (w.account).holds -> v_place);
    v_verdict := lanefold._ask_limit(w.limits[n], w.buckets[n], v_place, (v_take -> j ->> 1)::bigint, v_shares ->> v_place,
      p_granted ? v_place or w.limits[n].share_by is not null and p_call ->> 'granted' = v_place, w.account, v_lane, p_at);
    continue when v_verdict is null;
    if not v_verdict ?| array['impossible', 'ends'] then
      v_refused := array_append(v_refused, v_place);
      w.look := w.look || jsonb_build_object(v_place, coalesce(v_verdict -> 'delay_ms', v_verdict -> 'look_ms'));
      continue when w.answer ? 'refused';
    end if;
    w.answer := v_verdict - 'look_ms';
    exit when v_verdict ?| array['impossible', 'ends'];
  end loop;
  if w.answer ? 'ok' and v_job is not null and not v_granted and not lanefold._lane_attended(v_lane) then
    -- it waits for a worker, and keeps nothing from runs that have one
    v_refused := array[v_take -> 0 ->> 0];
    w.answer := jsonb_build_object('refused', v_refused[1]);
  end if;

  if w.answer ? 'ok' and v_take is not null then
    if v_job is not null then
      w := lanefold._grant(w, v_take);
    else
      w := lanefold._take(w, v_take, p_at);
    end if;
  end if;
  if (w.account).wants is not null and (w.answer ?| array['ok', 'impossible', 'ends'] or p_call ? 'job') then
    w := lanefold._leave_line(w, w.answer ? 'ok' and v_take is not null);
  end if;
  if p_call ? 'job' and w.answer ? 'refused' and not w.answer ? 'ends' then
    w.account.job := v_job;
    w.account.wants := jsonb_build_object('take', v_take, 'shares', v_shares);
    w := lanefold._line_up(w, v_lane, v_refused);
  elsif v_granted and w.answer ? 'refused' and not w.answer ? 'ends' then
    w := lanefold._refuse_in_line(w, v_refused);
    -- what another bucket refuses may be for the next one, once this is committed
    w.look := (select jsonb_object_agg(x ->> 0, retry_ms) from jsonb_array_elements(v_take) x, lanefold._look_again_ms() retry_ms) || w.look;
  end if;
  w.look := jsonb_strip_nulls(w.look);
  return w;
end $$;

-- How soon a place is checked again in which a run was refused though it has room, in ms.
create or replace function lanefold._look_again_ms()
returns int language sql immutable parallel safe as $$ select 20 $$;

-- Takes everything for a call that is made now. Adds to the answer {slices, passed?}, see use_limits.
create or replace function lanefold._take(w lanefold._limit_work, p_take jsonb, p_at timestamptz)
returns lanefold._limit_work language plpgsql stable as $$
declare
  v_slices jsonb := jsonb_build_object();
  v_passed jsonb := jsonb_build_array();
  v_place text;
  v_amount bigint;
  n int;
begin
  for j in 0 .. jsonb_array_length(p_take) - 1 loop
    v_place := p_take -> j ->> 0;
    n := array_position(w.places, v_place);
    continue when n is null or lanefold._holds_already(w.limits[n].kind, (w.account).holds -> v_place);
    v_amount := (p_take -> j ->> 1)::bigint;
    w.buckets[n] := lanefold._take_limit(w.buckets[n], v_amount, w.limits[n].kind);
    if w.limits[n].kind in ('runs', 'requests') then
      w.account.holds := lanefold._change_hold((w.account).holds, v_place, 0, w.buckets[n].slice, v_amount);
    else
      w.account.holds := lanefold._change_hold((w.account).holds, v_place, v_amount, w.buckets[n].slice, 0);
      v_slices := v_slices || jsonb_build_object(v_place, w.buckets[n].slice);
    end if;
    if w.limits[n].on_exhausted = 'notice' and lanefold._limit_notices(w.limits[n], w.buckets[n], p_at) then
      w.buckets[n].noticed_at := p_at;
      v_passed := v_passed || to_jsonb(v_place);
    end if;
  end loop;
  w.answer := w.answer || jsonb_build_object('slices', v_slices) || lanefold._unless_empty('passed', v_passed);
  return w;
end $$;

-- Sets everything aside for a run that no worker has claimed yet.
create or replace function lanefold._grant(w lanefold._limit_work, p_take jsonb)
returns lanefold._limit_work language plpgsql stable as $$
declare
  v_place text;
  v_amount bigint;
  n int;
begin
  w.account.grants := '{}';
  for j in 0 .. jsonb_array_length(p_take) - 1 loop
    v_place := p_take -> j ->> 0;
    n := array_position(w.places, v_place);
    continue when n is null or lanefold._holds_already(w.limits[n].kind, (w.account).holds -> v_place);
    v_amount := (p_take -> j ->> 1)::bigint;
    w.buckets[n].granted := w.buckets[n].granted + v_amount;
    w.account.grants := (w.account).grants || jsonb_build_object(v_place, v_amount);
  end loop;
  return w;
end $$;
