-- Decides whether a claim of a run may go ahead, after `claims_without_progress` claims without a committed step. A run may crash
-- worker after worker, and must end; a run that only shared workers with such a run, or whose workers were lost for another reason,
-- must not. Therefore:
--
-- * A claim counts against a run only if it was made by a worker that held no other run, and took none before a step was committed.
--   `claims_alone` is their number. After max_claims_without_progress - 1 claims, and at least one, the run is left for such a worker.
-- * A claim does not count if the worker was lost for a cause outside of the run: loss_cause knows some, and the worker that is to
--   claim the run asks it. Nor does a claim of a worker that gave the run back, because it stops, or because of a limit.
-- * max_claims_without_progress claims that count end the run as `failed`, `poisoned`. So do four times as many claims of any kind in
--   a row: the run could be the reason why the database restarts.
--
-- p is that of claim_run. The caller has read the row `r` and noted a lost worker in `lost_at`. Returns the answer of the claim, or
-- null if it may go ahead.
create or replace function lanefold._judge_claims(p_thread_id text, r lanefold._run, p jsonb, p_at timestamptz)
returns json language plpgsql as $$
declare
  v_max constant int := (p ->> 'max_claims_without_progress')::int;
  v_alone constant boolean := (p -> 'alone')::boolean;
  v_ends constant boolean := r.claims_alone >= v_max and r.claims_without_progress >= 2;
begin
  if r.claims_without_progress < greatest(v_max - 1, 1) and not v_ends then
    return null;
  elsif r.claims_without_progress >= 4 * greatest(v_max, 2) or v_ends and (r.lost_at is null or v_alone or p ? 'loss_cause') then
    return lanefold._fail_poisoned(p_thread_id, r.id, r.claims_without_progress, r.claims_alone);
  elsif v_alone then
    return null;
  end if;
  -- no worker holds it: otherwise a sweep would treat the job of the worker that waits to be alone as a dead worker's
  update lanefold._run set status = 'queued', lease_until = null, enqueued_at = p_at, lost_at = r.lost_at
  where thread_id = p_thread_id and id = r.id;
  return (jsonb_build_object('claimed', false, 'status', 'queued', 'reason', 'alone')
    || case when r.lost_at is null then '{}' else jsonb_build_object('lost', jsonb_build_object('worker_id', r.worker_id, 'seen_at', r.lost_at)
         || case when lanefold._restarted_since(r.lost_at) then '{"cause": "database_restarted"}' else '{}' end::jsonb) end
    || case when v_ends then '{"ends": true}' else '{}' end::jsonb)::json;
end $$;

-- The claims that count against a run, without the last one if its worker was lost for a cause outside of the run.
create or replace function lanefold._claims_alone(r lanefold._run, p jsonb) returns smallint language sql immutable as $$
  select case when r.claims_without_progress = 0 then 0
              when r.lost_at is not null and p ->> 'loss_cause' is not null then greatest(r.claims_alone - 1, 0)
              else r.claims_alone end::smallint
$$;

-- Whether this server has been started since. With Citus, of a function that works on a thread: the node of that thread.
create or replace function lanefold._restarted_since(p_at timestamptz) returns boolean language sql stable as $$
  select pg_postmaster_start_time() > p_at
$$;
