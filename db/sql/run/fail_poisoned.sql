-- Ends a run as `failed`, `poisoned`: it was claimed as often as it may be without a committed step, so it takes down worker
-- after worker. claim_run calls this once `claims_without_progress` has reached the worker's max_claims_without_progress;
-- every committed step sets the count back to 0, but for one that only resumes the run. Returns the answer of the claim.
create or replace function lanefold._fail_poisoned(p_thread_id text, p_run_id text, p_claims int)
returns json language plpgsql as $$
declare
  v_end jsonb;
begin
  v_end := lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'poisoned', 'error',
    jsonb_build_object('type', 'poisoned', 'message', format('The run was claimed %s times without a committed step.', p_claims))));
  return json_build_object('claimed', false, 'status', v_end -> 'status', 'reason', 'poisoned', 'promoted', v_end -> 'promoted');
end $$;
