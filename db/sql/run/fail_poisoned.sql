-- Ends a run as `failed`, `poisoned`: it crashes worker after worker. Each claim increases claims_without_progress,
-- and each committed step resets it, except one that only resumes the run. Runs that share a worker with a poisoned
-- run reach the same count. The last claim before the limit, or the second one if the limit is 1, is therefore
-- reserved for a worker without other runs, so that only a run that crashes a worker alone reaches the limit. claim_run
-- calls this for the next claim after that. Returns the answer of the claim.
create or replace function lanefold._fail_poisoned(p_thread_id text, p_run_id text, p_claims int)
returns json language plpgsql as $$
declare
  v_end jsonb;
begin
  v_end := lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'poisoned', 'error',
    jsonb_build_object('type', 'poisoned', 'message', format('The run was claimed %s times without committing a step.', p_claims))));
  return json_build_object('claimed', false, 'status', v_end -> 'status', 'reason', 'poisoned', 'promoted', v_end -> 'promoted');
end $$;
