-- Takes from limits, and gives back, for the runs that one process executes. Touches no thread: a bucket that every run
-- needs is locked for this short transaction, and not while steps are committed.
--
-- p_calls: [{version: of the limits that the caller knows, thread_id, run_id,
--   take?: [[place, amount]], by place: all of it or nothing, with since?, priority?: the run's place in line,
--   shares?: {place: value of the sharing dimension},
--   job?: {queue, enqueue_no, agent, prefix?, version?, strategy?}: no worker executes the run; if it is refused, it waits in line,
--   granted?: place: the turn of a waiting run has come there, as `ready` said,
--   done?: [[place, reserved, slice, used, lost?: true]]: of calls that have ended; of a lost one, the provider may have counted it,
--   base?: {place: used by the run}: the caller has just claimed the run; what an earlier claim reserved returns.
--     If runs wait for a sliding interval, it leaves with the interval instead: the provider may have counted the lost calls,
--   pause?: true: the run waits for something else, or no worker executes it: its slots return; with idle_ms? only if no
--     process has touched its account for so long,
--   end?: {place: used by the run}: it has ended,
--   drain?: {place: ms}: the provider wants no call before,
--   check?: [place]: look which waiting runs can be next}].
-- A place names a bucket, see _limit_place. Returns an answer for each call, in order:
--   {ok: true, slices: {place: slice, of each reservation}, passed?: [place, of a limit that gives notice]}
--   {stale: version}: the caller's limits are not the current ones, or the run has ended meanwhile; nothing was done, and the
--     caller asks again
--   {refused: place, delay_ms?, ends?: true}: with `ends`, the limit wants the run to end
--   {impossible: place, most}: more than the whole limit
--   {late: true}: the granted run does not wait, or no live worker can execute it; the account is not idle.
-- The first answer may have `ready`: [{place, thread_id, run_id, job}], the waiting runs that can be next, for further calls
-- with `granted`; and `look`: {place: ms}, the places to check in so many ms. A check sees what other calls have committed, so
-- that one of two calls that free different buckets for the same run sees both: what a call frees is checked after its commit.
--
-- Grants: a run whose turn has come, and that no worker has claimed yet, takes nothing. What it will take is set aside in
-- `granted` of each bucket, and its first call under a claim takes it.
--
-- The commit does not wait for the disk: if the database loses it in a crash, the next claim of a run or the sweep finds in
-- the log what the run has used.
create or replace function lanefold.use_limits(p_calls jsonb)
returns table (result json) language plpgsql rows 10
-- sessions keep their plans, also those made while the tables were small
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_version constant bigint := lanefold._limits_version();
  v_accounts lanefold._limit_account[] := array[]::lanefold._limit_account[];
  v_runs text[] := array[]::text[];  -- of the accounts
  v_ended int[] := array[]::int[];   -- positions of accounts
  v_answers jsonb[] := array[]::jsonb[];
  v_look jsonb := jsonb_build_object();
  v_ready jsonb := jsonb_build_array();
  w lanefold._limit_work;
  a lanefold._limit_account;
  v_locked record;
  v_next record;
  v_call jsonb;
  v_granted jsonb;
  v_account int;
begin
  perform set_config('synchronous_commit', 'off', true);
  for a in select * from lanefold._lock_accounts(p_calls, v_at) loop
    v_accounts := array_append(v_accounts, a);
    v_runs := array_append(v_runs, a.thread_id || ' ' || a.run_id);
  end loop;
  for v_locked in select * from lanefold._lock_buckets(lanefold._limit_places(p_calls, v_accounts), v_at) loop
    w.places := array_append(w.places, v_locked.place);
    w.limits := array_append(w.limits, v_locked.l);
    w.buckets := array_append(w.buckets, v_locked.k);
  end loop;

  for v_call in select value from jsonb_array_elements(p_calls) loop
    v_account := array_position(v_runs, (v_call ->> 'thread_id') || ' ' || (v_call ->> 'run_id'));
    -- the account of a run is gone if the run has ended while this waited for it: nothing would return what it takes now
    if v_call ? 'take' and ((v_call ->> 'version')::bigint <> v_version or v_account is null) then
      v_answers := array_append(v_answers, jsonb_build_object('stale', v_version));
      continue;
    end if;
    a := case when v_account is null then lanefold._new_account(v_call, v_at) else v_accounts[v_account] end;
    if v_call ? 'idle_ms' and a.touched_at > v_at - (v_call ->> 'idle_ms')::int * interval '1 ms' then
      v_answers := array_append(v_answers, jsonb_build_object('late', true));
      continue;
    end if;
    v_granted := coalesce(a.grants, '{}');
    w.account := a;
    w.answer := jsonb_build_object('ok', true);
    w.look := jsonb_build_object();
    if v_call ?| array['done', 'drain'] or a.holds <> '{}' or a.grants is not null then
      w := lanefold._give_back(v_call, w, v_at);
    end if;
    if v_call ? 'take' or v_call ? 'granted' or a.wants is not null and v_call ? 'end' then
      w := lanefold._take_or_wait(v_call, w, v_granted, v_at);
    end if;
    if v_account is not null then
      w.account.touched_at := v_at;
      v_accounts[v_account] := w.account;
      -- a process that has not heard of the end may ask after it
      v_ended := case when v_call ? 'end' then array_append(v_ended, v_account)
                      when v_call ? 'take' then array_remove(v_ended, v_account) else v_ended end;
    end if;
    v_look := v_look || w.look;
    v_answers := array_append(v_answers, w.answer);
  end loop;

  perform lanefold._store_limits(w.buckets, v_accounts, v_ended, v_at);
  for n in 1 .. coalesce(cardinality(w.places), 0) loop
    if w.buckets[n].lined = 0 then
      v_look := v_look - w.places[n];
    elsif p_calls @> jsonb_build_array(jsonb_build_object('check', jsonb_build_array(w.places[n]))) then
      v_next := lanefold._limit_ready(w.limits[n], w.buckets[n], w.places[n], v_at);
      v_ready := v_ready || v_next.ready;
      v_look := v_next.look || v_look;
    end if;
  end loop;
  for n in 1 .. cardinality(v_answers) loop
    result := case when n = 1 then v_answers[n] || lanefold._unless_empty('ready', v_ready) || lanefold._unless_empty('look', v_look)
                   else v_answers[n] end::json;
    return next;
  end loop;
end $$;

-- {name: value}, or {} if the value is an empty list or object.
create or replace function lanefold._unless_empty(p_name text, p_value jsonb)
returns jsonb language plpgsql immutable parallel safe as $$
begin
  return case when p_value in ('[]', '{}') then jsonb_build_object() else jsonb_build_object(p_name, p_value) end;
end $$;
