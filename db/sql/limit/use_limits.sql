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
  -- arrays, because every access to a row costs: of the accounts, and of the buckets
  v_runs text[] := array[]::text[];
  v_accounts lanefold._limit_account[] := array[]::lanefold._limit_account[];
  v_places text[] := array[]::text[];
  v_limits lanefold._limit[] := array[]::lanefold._limit[];
  v_buckets lanefold._limit_bucket[] := array[]::lanefold._limit_bucket[];
  v_ended int[] := array[]::int[];
  v_answers jsonb[] := array[]::jsonb[];
  v_look jsonb := jsonb_build_object();
  v_ready jsonb := jsonb_build_array();
  a lanefold._limit_account;
  -- a record for each function: one of another type would have its expressions planned again
  v_locked record;
  v_returned record;
  v_taken record;
  v_next record;
  v_call jsonb;
  v_answer jsonb;
  v_granted jsonb;
  v_account int;
begin
  perform set_config('synchronous_commit', 'off', true);
  for a in select * from lanefold._lock_accounts(p_calls, v_at) loop
    v_accounts := array_append(v_accounts, a);
    v_runs := array_append(v_runs, a.thread_id || ' ' || a.run_id);
  end loop;
  for v_locked in select * from lanefold._lock_buckets(lanefold._limit_places(p_calls, v_accounts), v_at) loop
    v_places := array_append(v_places, v_locked.place);
    v_limits := array_append(v_limits, v_locked.l);
    v_buckets := array_append(v_buckets, v_locked.k);
  end loop;

  for v_call in select value from jsonb_array_elements(p_calls) loop
    v_account := array_position(v_runs, (v_call ->> 'thread_id') || ' ' || (v_call ->> 'run_id'));
    -- the account of a run is gone if the run has ended while this waited for it: nothing would return what it takes now
    if v_call ? 'take' and ((v_call ->> 'version')::bigint <> v_version or v_account is null) then
      v_answers := array_append(v_answers, jsonb_build_object('stale', v_version));
      continue;
    end if;
    if v_account is null then
      a := lanefold._new_account(v_call, v_at);
    else
      a := v_accounts[v_account];
    end if;
    if v_call ? 'idle_ms' and a.touched_at > v_at - (v_call ->> 'idle_ms')::int * interval '1 ms' then
      v_answers := array_append(v_answers, jsonb_build_object('late', true));
      continue;
    end if;
    v_granted := coalesce(a.grants, '{}');
    if v_call ?| array['done', 'drain'] or a.holds <> '{}' or a.grants is not null then
      v_returned := lanefold._give_back(v_call, a, v_places, v_limits, v_buckets, v_at);
      v_buckets := v_returned.buckets;
      a := v_returned.account;
      v_look := v_look || v_returned.look;
    end if;
    v_answer := jsonb_build_object('ok', true);
    if v_call ? 'take' or v_call ? 'granted' or a.wants is not null and v_call ? 'end' then
      v_taken := lanefold._take_or_wait(v_call, a, v_granted, v_places, v_limits, v_buckets, v_at);
      v_answer := v_taken.answer;
      v_buckets := v_taken.buckets;
      a := v_taken.account;
      v_look := v_look || v_taken.look;
    end if;
    if v_account is not null then
      a.touched_at := v_at;
      v_accounts[v_account] := a;
      -- a process that has not heard of the end may ask after it
      v_ended := case when v_call ? 'end' then array_append(v_ended, v_account) when v_call ? 'take' then array_remove(v_ended, v_account) else v_ended end;
    end if;
    v_answers := array_append(v_answers, v_answer);
  end loop;

  perform lanefold._store_limits(v_buckets, v_accounts, v_ended, v_at);
  for n in 1 .. cardinality(v_places) loop
    if v_buckets[n].lined = 0 then
      v_look := v_look - v_places[n];
    elsif p_calls @> jsonb_build_array(jsonb_build_object('check', jsonb_build_array(v_places[n]))) then
      v_next := lanefold._limit_ready(v_limits[n], v_buckets[n], v_places[n], v_at);
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
