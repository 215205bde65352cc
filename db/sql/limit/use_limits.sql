-- Takes from limits, and gives back, for the runs that one process executes. Touches no thread: a bucket that every run
-- needs is locked for this short transaction, and not while steps are committed.
--
-- p_calls: [{version: of the limits that the caller knows, thread_id, run_id,
--   take?: [[place, amount]], by place: all of it or nothing,
--   shares?: {place: value of the sharing dimension},
--   job?: {queue, enqueue_no, agent}: nobody executes the run; if it is refused, it waits in line, with since?, priority?,
--   granted?: true: its turn has come, as `ready` said,
--   done?: [[place, reserved, slice, used]]: of calls that have ended,
--   base?: {place: used by the run}: the caller has just claimed the run; what an earlier claim reserved returns,
--   pause?: true: the run waits for something else, and its slots return,
--   end?: {place: used by the run}: it has ended,
--   drain?: {place: ms}: the provider wants no call before,
--   check?: [place]: look whether somebody may go on}].
-- A place names a bucket, see _limit_place. Returns an answer for each call, in order:
--   {ok: true, slices: {place: slice, of each reservation}, passed?: [place, of a limit that gives notice]}
--   {stale: version}: the caller's limits are not the current ones, and nothing was done
--   {refused: place, delay_ms?, ends?: true}: with `ends`, the limit wants the run to end
--   {impossible: place, most}: more than the whole limit
--   {late: true}: somebody else let the waiting run go on.
-- The first answer may have `ready`: the waiting runs that may go on now, for further calls with `granted`.
--
-- The commit does not wait for the disk: if the database loses it in a crash, the next claim of a run or the sweep finds in
-- the log what the run has used.
create or replace function lanefold.use_limits(p_calls jsonb)
returns table (result json) language plpgsql rows 10
-- sessions keep their plans, also those made while the tables were small
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_version constant bigint := lanefold._limits_version();
  -- arrays, because every access to a row costs: of the accounts, and of the buckets
  v_runs text[] := array[]::text[];
  v_accounts lanefold._limit_account[] := array[]::lanefold._limit_account[];
  v_places text[] := array[]::text[];
  v_limits lanefold._limit[] := array[]::lanefold._limit[];
  v_buckets lanefold._limit_bucket[] := array[]::lanefold._limit_bucket[];
  v_kinds text[] := array[]::text[];
  v_free bigint[] := array[]::bigint[];  -- what anybody may take at least; null: _ask_limit knows
  v_notices boolean[] := array[]::boolean[];
  v_look boolean[] := array[]::boolean[];  -- whether somebody may go on
  v_ended int[] := array[]::int[];
  v_answers jsonb[] := array[]::jsonb[];
  v_ready jsonb := jsonb_build_array();
  a lanefold._limit_account;
  l lanefold._limit;
  k lanefold._limit_bucket;
  v_call jsonb;
  v_answer jsonb;
  v_slices jsonb;
  v_passed jsonb;
  v_take jsonb;
  v_hold jsonb;
  v_place text;
  v_amount bigint;
  v_account int;
  v_waits int;  -- the bucket that the run waits for
  v_next int;
  n int := 0;
begin
  perform set_config('synchronous_commit', 'off', true);
  for a in select * from lanefold._lock_accounts(p_calls, v_at) loop
    v_accounts := array_append(v_accounts, a);
    v_runs := array_append(v_runs, a.thread_id || ' ' || a.run_id);
  end loop;
  for k in select * from lanefold._lock_buckets(lanefold._limit_places(p_calls, v_accounts), v_at) loop
    n := n + 1;
    v_places[n] := lanefold._limit_place(k.owner, k.name, k.key);
    if (l.owner, l.name) is distinct from (k.owner, k.name) then
      l := lanefold._limit_of(k);
    end if;
    v_limits[n] := l;
    v_buckets[n] := k;
    v_kinds[n] := l.kind;
    v_free[n] := lanefold._limit_free(l, k, v_at);
    v_notices[n] := l.on_exhausted = 'notice';
    v_look[n] := false;
  end loop;

  -- loops count because a query for each list would take most of the time
  for i in 0 .. jsonb_array_length(p_calls) - 1 loop
    v_call := p_calls -> i;
    if v_call ? 'take' and not v_call ? 'granted' and (v_call ->> 'version')::bigint <> v_version then
      v_answers := array_append(v_answers, jsonb_build_object('stale', v_version));
      continue;
    end if;
    v_account := array_position(v_runs, (v_call ->> 'thread_id') || ' ' || (v_call ->> 'run_id'));
    a := case when v_account is null then lanefold._new_account(v_call, v_at) else v_accounts[v_account] end;
    v_waits := case when a.wait_name is not null then array_position(v_places, lanefold._limit_place(a.wait_owner, a.wait_name, a.wait_key)) end;

    if v_call ? 'drain' then
      for v_place, v_amount in select key, value::bigint from jsonb_each_text(v_call -> 'drain') loop
        n := array_position(v_places, v_place);
        continue when n is null;
        v_free[n] := null;
        v_buckets[n].drained_until := greatest(v_buckets[n].drained_until, v_at + v_amount * interval '1 ms');
      end loop;
    end if;
    for j in 0 .. coalesce(jsonb_array_length(v_call -> 'check'), 0) - 1 loop
      n := array_position(v_places, v_call -> 'check' ->> j);
      continue when n is null;
      v_look[n] := true;
    end loop;

    -- what the run gives back
    for j in 0 .. coalesce(jsonb_array_length(v_call -> 'done'), 0) - 1 loop
      v_hold := v_call -> 'done' -> j;
      v_place := v_hold ->> 0;
      n := array_position(v_places, v_place);
      continue when n is null;
      -- not more than the account has: a reservation may have returned with a lease
      v_amount := least((v_hold ->> 1)::bigint, coalesce((a.holds -> v_place ->> 0)::bigint, 0));
      v_buckets[n] := lanefold._settle_limit(v_buckets[n], v_amount, (a.holds -> v_place ->> 1)::bigint, (v_hold ->> 2)::bigint, (v_hold ->> 3)::bigint);
      a.holds := lanefold._change_hold(a.holds, v_place, -v_amount, null, (v_hold ->> 3)::bigint);
      v_look[n] := true;
    end loop;
    if a.holds <> '{}' and v_call ?| array['base', 'pause', 'end', 'job'] then
      foreach v_place in array array(select jsonb_object_keys(a.holds)) loop
        n := array_position(v_places, v_place);
        -- a claimed run keeps its slots; one that nobody executes has none
        continue when n is null or v_kinds[n] = 'concurrency' and v_call ? 'base' and not v_call ? 'job';
        v_hold := a.holds -> v_place;
        v_amount := coalesce((coalesce(v_call -> 'end', v_call -> 'base') ->> v_place)::bigint - (v_hold ->> 2)::bigint, 0);
        v_buckets[n] := lanefold._settle_limit(v_buckets[n], (v_hold ->> 0)::bigint, null, (v_hold ->> 1)::bigint, v_amount);
        a.holds := lanefold._change_hold(a.holds, v_place, -(v_hold ->> 0)::bigint, null, v_amount);
        v_look[n] := true;
      end loop;
    end if;
    if a.granted and v_call ? 'take' then
      -- the call it was let go on for was counted then; `base` returns what was reserved for it
      for j in 0 .. coalesce(jsonb_array_length(a.wants -> 'take'), 0) - 1 loop
        v_place := a.wants -> 'take' -> j ->> 0;
        n := array_position(v_places, v_place);
        continue when n is null or v_kinds[n] <> 'requests' or not a.holds ? v_place;
        v_amount := (a.wants -> 'take' -> j ->> 1)::bigint;
        v_buckets[n] := lanefold._settle_limit(v_buckets[n], 0, null, (a.holds -> v_place ->> 1)::bigint, -v_amount);
        a.holds := lanefold._change_hold(a.holds, v_place, 0, null, -v_amount);
      end loop;
    end if;

    -- what it takes
    v_answer := jsonb_build_object('ok', true);
    v_slices := jsonb_build_object();
    v_passed := jsonb_build_array();
    v_take := case when v_call ? 'granted' and v_waits is null then null else v_call -> 'take' end;
    for j in 0 .. coalesce(jsonb_array_length(v_take), 0) - 1 loop
      v_place := v_take -> j ->> 0;
      n := array_position(v_places, v_place);
      v_amount := (v_take -> j ->> 1)::bigint;
      continue when n is null or v_amount <= v_free[n] or v_kinds[n] in ('concurrency', 'runs') and lanefold._holds_already(v_kinds[n], a.holds -> v_place);
      v_answer := lanefold._ask_limit(v_limits[n], v_buckets[n], v_place, v_amount, v_call -> 'shares' ->> v_place,
        a.granted or v_call ? 'granted' and n = v_waits, v_answer, v_at);
      exit when v_answer ?| array['impossible', 'ends'];
    end loop;
    if v_call ? 'granted' and v_waits is null then
      v_answer := jsonb_build_object('late', true);
    elsif v_take is not null and v_answer ? 'ok' then
      for j in 0 .. jsonb_array_length(v_take) - 1 loop
        v_place := v_take -> j ->> 0;
        n := array_position(v_places, v_place);
        continue when n is null or v_kinds[n] in ('concurrency', 'runs') and lanefold._holds_already(v_kinds[n], a.holds -> v_place);
        v_amount := (v_take -> j ->> 1)::bigint;
        v_buckets[n] := lanefold._take_limit(v_buckets[n], v_amount, v_kinds[n]);
        v_free[n] := v_free[n] - v_amount;
        if v_kinds[n] in ('runs', 'requests') then
          a.holds := lanefold._change_hold(a.holds, v_place, 0, v_buckets[n].slice, v_amount);
        else
          a.holds := lanefold._change_hold(a.holds, v_place, v_amount, v_buckets[n].slice, 0);
          v_slices := v_slices || jsonb_build_object(v_place, v_buckets[n].slice);
        end if;
        -- only of a call that is made now: who was let go on, or waits, asks again before it
        if v_notices[n] and not v_call ?| array['granted', 'job'] and lanefold._limit_notices(v_limits[n], v_buckets[n], v_at) then
          v_buckets[n].noticed_at := v_at;
          v_passed := v_passed || to_jsonb(v_place);
        end if;
      end loop;
      v_answer := jsonb_build_object('ok', true, 'slices', v_slices)
        || case when v_passed = '[]' then '{}' else jsonb_build_object('passed', v_passed) end;
      a.granted := v_call ?| array['granted', 'job'];
    end if;

    -- its place in line
    v_next := case
      when v_answer ? 'refused' and not v_answer ? 'ends' and (v_call ? 'job' or v_waits is not null) then array_position(v_places, v_answer ->> 'refused')
      when v_take is null and not v_call ? 'end' then v_waits end;
    if v_next is not null and v_take is not null then
      -- slots return while it waits
      foreach v_place in array array(select jsonb_object_keys(a.holds)) loop
        n := array_position(v_places, v_place);
        continue when n is null or v_kinds[n] <> 'concurrency';
        v_amount := (a.holds -> v_place ->> 0)::bigint;
        v_buckets[n] := lanefold._settle_limit(v_buckets[n], v_amount, null, 0, 0);
        a.holds := lanefold._change_hold(a.holds, v_place, -v_amount, null, 0);
        v_look[n] := true;
      end loop;
      -- those that come together keep their order
      a := lanefold._in_line(a, v_buckets[v_next], v_call, v_answer, v_at + i * interval '1 microsecond');
    end if;
    if v_waits is distinct from v_next then
      if v_waits is not null then
        v_buckets[v_waits].waiting := v_buckets[v_waits].waiting - 1;
        if v_answer ? 'slices' then
          v_buckets[v_waits].turn := greatest(v_buckets[v_waits].turn, lanefold._take_turn(v_limits[v_waits], a, v_buckets[v_waits].turn));
        else
          v_look[v_waits] := true;
        end if;
      end if;
      if v_next is null then
        a := lanefold._out_of_line(a);
      else
        v_buckets[v_next].waiting := v_buckets[v_next].waiting + 1;
        v_free[v_next] := null;
      end if;
    end if;

    if v_account is not null then
      a.touched_at := v_at;
      v_accounts[v_account] := a;
      if v_call ? 'end' then
        v_ended := array_append(v_ended, v_account);
      elsif v_take is not null then
        -- of a process that has not heard of the end
        v_ended := array_remove(v_ended, v_account);
      end if;
    end if;
    v_answers := array_append(v_answers, v_answer);
  end loop;

  perform lanefold._store_limits(v_buckets, v_accounts, v_ended, v_at);
  for n in 1 .. cardinality(v_buckets) loop
    if v_look[n] and v_buckets[n].waiting > 0 then
      v_ready := v_ready || lanefold._limit_ready(v_limits[n], v_buckets[n], v_at);
    end if;
  end loop;
  for n in 1 .. cardinality(v_answers) loop
    result := case when n = 1 and v_ready <> '[]' then v_answers[n] || jsonb_build_object('ready', v_ready) else v_answers[n] end::json;
    return next;
  end loop;
end $$;
