-- Ends a run whose context is larger than a worker may hold as `failed`, `context_too_large`, in place of its claim.
-- Its message and input do not enter the log. Returns the answer of the claim.
create or replace function lanefold._fail_too_large(p_thread_id text, p_run_id text, p_context_ref text, p_bytes bigint, p jsonb)
returns json language plpgsql as $$
declare
  v_end jsonb;
begin
  v_end := lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'error',
    'error', jsonb_build_object('type', 'context_too_large', 'message',
      format('With the input of this run, the context of lane %s would have %s bytes, more than %s.', p_context_ref, p_bytes,
        lanefold._max_context_bytes(p)))));
  return json_build_object('claimed', false, 'status', v_end -> 'status', 'reason', 'context_too_large',
    'promoted', v_end -> 'promoted');
end $$;
