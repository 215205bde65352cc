-- Takes from limits, and gives back, for the runs that one process executes. Touches no thread: a bucket that every run
-- needs is locked for this short transaction, and not while steps are committed.
--
-- p_calls: [{version: of the limits that the caller knows, thread_id, run_id,
--   take?: {place: amount}, all of it or nothing,
--   job?: {queue, enqueue_no, agent}: nobody executes the run; if it is refused, it waits in line, with
--   shares?: {place: value of the sharing dimension}, since?, priority?,
--   granted?: true: its turn has come, as `ready` said,
--   done?: [[place, reserved, slice, used]]: of calls that have ended,
--   base?: {place: used by the run}: the caller has just claimed the run; what an earlier claim reserved returns,
--   pause?: true: the run waits for something else, and its slots return,
--   end?: {place: used by the run}: it has ended,
--   drain?: {place: ms}: the provider wants no call before,
--   check?: [place]: look whether somebody may go on}].
-- A place names a bucket, see _limit_place. Returns an answer for each call, in order:
--   {ok: true, slices: {place: slice, of each reservation}}
--   {stale: version}: the caller's limits are not the current ones, and nothing was done
--   {refused: place, delay_ms?, ends?: true}: with `ends`, the limit wants the run to end
--   {impossible: place, most}: more than the whole limit
--   {late: true}: somebody else let the waiting run go on.
-- The first answer may have `ready`: the waiting runs that may go on now, for further calls with `granted`.
create or replace function lanefold.use_limits(p_calls jsonb)
returns table (result json) language plpgsql rows 10 as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_version constant bigint := lanefold._limits_version();
  v_accounts jsonb;
  v_index jsonb := '{}';  -- place -> position in the arrays
  v_limits lanefold._limit[] := '{}';
  v_buckets lanefold._limit_bucket[] := '{}';
  v_look boolean[] := '{}';  -- whether somebody may go on
  l lanefold._limit;
  k lanefold._limit_bucket;
  a lanefold._limit_account;
  r record;
  v_call jsonb;
  v_run text;
  v_place text;
  v_wait text;
  v_hold jsonb;
  v_most bigint;
  v_amount bigint;
  v_slices jsonb;
  v_answer jsonb;
  v_answers jsonb[] := '{}';
  v_ready jsonb := '[]';
  n int := 0;
begin
  -- a row that does not exist cannot be locked
  insert into lanefold._limit_account (thread_id, run_id, holds, touched_at)
  select distinct c ->> 'thread_id', c ->> 'run_id', '{}'::jsonb, v_at from jsonb_array_elements(p_calls) c
  where c ? 'take' and not exists (
    select from lanefold._limit_account h where h.run_id = c ->> 'run_id' and h.thread_id = c ->> 'thread_id')
  order by 1, 2
  on conflict (run_id, thread_id) do nothing;
  select coalesce(jsonb_object_agg(x.thread_id || ' ' || x.run_id, to_jsonb(x)), '{}') into v_accounts from (
    select h.* from lanefold._limit_account h
    where (h.thread_id, h.run_id) in (select c ->> 'thread_id', c ->> 'run_id' from jsonb_array_elements(p_calls) c)
    order by h.thread_id, h.run_id for update) x;
  for r in select * from lanefold._lock_buckets(lanefold._limit_places(p_calls, v_accounts), v_at) loop
    n := n + 1;
    v_index := v_index || jsonb_build_object(r.place, n);
    v_limits[n] := r.l;
    v_buckets[n] := r.k;
    v_look[n] := false;
  end loop;

  for v_call in select value from jsonb_array_elements(p_calls) loop
    if v_call ? 'take' and not v_call ? 'granted' and (v_call ->> 'version')::bigint <> v_version then
      v_answers := array_append(v_answers, jsonb_build_object('stale', v_version));
      continue;
    end if;
    v_answer := '{"ok": true}';
    v_slices := '{}';
    v_run := coalesce((v_call ->> 'thread_id') || ' ' || (v_call ->> 'run_id'), '');  -- a call that only looks has none
    a := jsonb_populate_record(null::lanefold._limit_account, coalesce(v_accounts -> v_run, '{"holds": {}, "priority": 0, "granted": false}')
      || jsonb_build_object('thread_id', v_call -> 'thread_id', 'run_id', v_call -> 'run_id'));
    v_wait := lanefold._limit_place(a.wait_owner, a.wait_name, a.wait_key);

    for v_place, v_amount in select key, value::bigint from jsonb_each_text(v_call -> 'drain') loop
      n := (v_index ->> v_place)::int;
      continue when n is null;
      k := v_buckets[n];
      k.drained_until := greatest(k.drained_until, v_at + v_amount * interval '1 ms');
      v_buckets[n] := k;
    end loop;
    for v_place in select jsonb_array_elements_text(v_call -> 'check') loop
      n := (v_index ->> v_place)::int;
      continue when n is null;
      v_look[n] := true;
    end loop;
    for v_hold in select value from jsonb_array_elements(v_call -> 'done') loop
      v_place := v_hold ->> 0;
      n := (v_index ->> v_place)::int;
      continue when n is null;
      -- not more than the account has: a reservation may have returned with a lease
      v_amount := least((v_hold ->> 1)::bigint, coalesce((a.holds -> v_place ->> 0)::bigint, 0));
      v_buckets[n] := lanefold._settle_limit(v_buckets[n], v_amount, (a.holds -> v_place ->> 1)::bigint, (v_hold ->> 2)::bigint, (v_hold ->> 3)::bigint);
      a.holds := lanefold._change_hold(a.holds, v_place, -v_amount, null, (v_hold ->> 3)::bigint);
      v_look[n] := true;
    end loop;
    if v_call ?| array['base', 'pause', 'end', 'job'] then
      for v_place, v_hold in select key, value from jsonb_each(a.holds) loop
        n := (v_index ->> v_place)::int;
        -- a claimed run keeps its slots; one that nobody executes has none
        continue when n is null or (v_limits[n]).kind = 'concurrency' and v_call ? 'base' and not v_call ? 'job';
        v_amount := coalesce((coalesce(v_call -> 'end', v_call -> 'base') ->> v_place)::bigint - (v_hold ->> 2)::bigint, 0);
        v_buckets[n] := lanefold._settle_limit(v_buckets[n], (v_hold ->> 0)::bigint, null, (v_hold ->> 1)::bigint, v_amount);
        a.holds := lanefold._change_hold(a.holds, v_place, -(v_hold ->> 0)::bigint, null, v_amount);
        v_look[n] := true;
      end loop;
    end if;

    if v_call ? 'granted' and v_wait is null then
      v_answer := '{"late": true}';
    elsif v_call ? 'take' then
      if a.granted then
        -- the call it was let go on for was counted then; `base` returns what was reserved for it
        for v_place, v_amount in select key, value::bigint from jsonb_each_text(a.wants -> 'take') loop
          n := (v_index ->> v_place)::int;
          continue when n is null or (v_limits[n]).kind <> 'requests' or not a.holds ? v_place;
          v_buckets[n] := lanefold._settle_limit(v_buckets[n], 0, null, (a.holds -> v_place ->> 1)::bigint, -v_amount);
          a.holds := lanefold._change_hold(a.holds, v_place, 0, null, -v_amount);
        end loop;
      end if;
      for v_place, v_amount in select key, value::bigint from jsonb_each_text(v_call -> 'take') order by key loop
        n := (v_index ->> v_place)::int;
        continue when n is null or lanefold._holds_already((v_limits[n]).kind, a.holds -> v_place);
        k := v_buckets[n];
        l := v_limits[n];
        v_most := coalesce((l.amounts ->> k.key)::bigint, l.amount);
        if v_amount > v_most then
          v_answer := jsonb_build_object('impossible', v_place, 'most', v_most);
          exit;
        elsif l.on_exhausted = 'end' and k.used + v_amount > v_most then
          v_answer := jsonb_build_object('refused', v_place, 'ends', true);
          exit;
        elsif v_answer ? 'ok' and (k.used + v_amount > v_most or k.drained_until > v_at
          -- who waits goes first
          or k.waiting > 0 and not (a.granted or v_call ? 'granted' and v_place = v_wait)) then
          v_answer := jsonb_strip_nulls(jsonb_build_object('refused', v_place,
            'delay_ms', lanefold._limit_delay_ms(l, k, k.used + v_amount - v_most, v_at)));
        end if;
      end loop;
      if v_answer ? 'ok' then
        for v_place, v_amount in select key, value::bigint from jsonb_each_text(v_call -> 'take') loop
          n := (v_index ->> v_place)::int;
          continue when n is null or lanefold._holds_already((v_limits[n]).kind, a.holds -> v_place);
          k := lanefold._take_limit(v_buckets[n], v_amount, (v_limits[n]).kind);
          v_buckets[n] := k;
          if (v_limits[n]).kind in ('runs', 'requests') then
            a.holds := lanefold._change_hold(a.holds, v_place, 0, k.slice, v_amount);
          else
            a.holds := lanefold._change_hold(a.holds, v_place, v_amount, k.slice, 0);
            v_slices := v_slices || jsonb_build_object(v_place, k.slice);
          end if;
        end loop;
        v_answer := v_answer || jsonb_build_object('slices', v_slices);
        a.granted := v_call ?| array['granted', 'job'];
        if v_wait is not null then
          n := (v_index ->> v_wait)::int;
          k := v_buckets[n];
          k.waiting := k.waiting - 1;
          k.turn := greatest(k.turn, lanefold._take_turn(v_limits[n], a, k.turn));
          v_buckets[n] := k;
          a := lanefold._out_of_line(a);
        end if;
      elsif not v_answer ? 'refused' or v_answer ? 'ends' then
        if v_wait is not null then
          -- it need not wait to end
          n := (v_index ->> v_wait)::int;
          k := v_buckets[n];
          k.waiting := k.waiting - 1;
          v_buckets[n] := k;
          v_look[n] := true;
          a := lanefold._out_of_line(a);
        end if;
      elsif v_call ? 'job' or v_wait is not null then
        -- the run waits in line for this limit, and its slots return
        for v_place, v_hold in select key, value from jsonb_each(a.holds) loop
          n := (v_index ->> v_place)::int;
          continue when n is null or (v_limits[n]).kind <> 'concurrency';
          v_buckets[n] := lanefold._settle_limit(v_buckets[n], (v_hold ->> 0)::bigint, null, 0, 0);
          a.holds := lanefold._change_hold(a.holds, v_place, -(v_hold ->> 0)::bigint, null, 0);
          v_look[n] := true;
        end loop;
        v_place := v_answer ->> 'refused';
        if v_wait is distinct from v_place then
          if v_wait is not null then
            n := (v_index ->> v_wait)::int;
            k := v_buckets[n];
            k.waiting := k.waiting - 1;
            v_buckets[n] := k;
            v_look[n] := true;
          end if;
          n := (v_index ->> v_place)::int;
          k := v_buckets[n];
          k.waiting := k.waiting + 1;
          v_buckets[n] := k;
          a.wait_owner := k.owner;
          a.wait_name := k.name;
          a.wait_key := k.key;
        end if;
        if v_call ? 'job' then
          a.job := v_call -> 'job';
          a.priority := coalesce((v_call ->> 'priority')::int, 0);
          a.wants := jsonb_build_object('take', v_call -> 'take', 'shares', coalesce(v_call -> 'shares', '{}'));
        end if;
        a.wait_share := coalesce(a.wants #>> array['shares', v_place], '');
        a.until := v_at + (v_answer ->> 'delay_ms')::float8 * interval '1 ms';
        a.since := coalesce(a.since, (v_call ->> 'since')::timestamptz, v_at);
        a.granted := false;
      end if;
    end if;

    if v_call ? 'end' and v_wait is not null then
      n := (v_index ->> v_wait)::int;
      k := v_buckets[n];
      k.waiting := k.waiting - 1;
      v_buckets[n] := k;
      v_look[n] := true;
    end if;
    a.touched_at := v_at;
    v_accounts := v_accounts || jsonb_build_object(v_run, to_jsonb(a) || case when v_call ? 'end' then '{"ended": true}'::jsonb else '{}' end);
    v_answers := array_append(v_answers, v_answer);
  end loop;

  perform lanefold._store_limits(v_buckets, v_accounts);
  for n in 1 .. coalesce(array_length(v_buckets, 1), 0) loop
    if v_look[n] and (v_buckets[n]).waiting > 0 then
      v_ready := v_ready || lanefold._limit_ready(v_limits[n], v_buckets[n], v_at);
    end if;
  end loop;
  for n in 1 .. coalesce(array_length(v_answers, 1), 0) loop
    result := case when n = 1 and v_ready <> '[]' then v_answers[n] || jsonb_build_object('ready', v_ready) else v_answers[n] end;
    return next;
  end loop;
end $$;
