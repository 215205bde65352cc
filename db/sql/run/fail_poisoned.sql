-- Ends a run as `failed`, `poisoned`: it seems to crash worker after worker (see _judge_claims). p_claims in a row did not commit a
-- step; p_alone of them count against the run. claim_run calls this for the next claim after that. Returns the answer of the claim.
create or replace function lanefold._fail_poisoned(p_thread_id text, p_run_id text, p_claims int, p_alone int)
returns json language plpgsql as $$
declare
  v_end jsonb;
begin
  v_end := lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'poisoned', 'error',
    jsonb_build_object('type', 'poisoned', 'message', format('The run was claimed %s times without committing a step, '
      'and %s of these workers held no other run.', p_claims, p_alone))));
  return json_build_object('claimed', false, 'status', v_end -> 'status', 'reason', 'poisoned', 'promoted', v_end -> 'promoted');
end $$;
