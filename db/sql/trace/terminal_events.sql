-- The events that end a run, in the form of _event_batch: the terminal event, then the terminal checkpoint. They have
-- no usage of their own in storage: the view run_event adds the run's.
create or replace function lanefold._terminal_events(
  p_status text, p_reason text, p_iteration int, p_error jsonb, p_result_seq bigint, p_result jsonb
) returns jsonb language plpgsql immutable as $$
begin
  return jsonb_build_array(
    case p_status
      when 'completed' then jsonb_build_object('k', 'request_completed', 'i', p_iteration, 'd', jsonb_strip_nulls(
        jsonb_build_object('termination_reason', p_reason, 'result_seq', p_result_seq, 'result', p_result)))
      when 'failed' then jsonb_build_object('k', 'request_failed', 'i', p_iteration, 'd', jsonb_strip_nulls(
        jsonb_build_object('error_type', p_error ->> 'type', 'error', p_error)))
      else jsonb_build_object('k', 'request_cancelled', 'i', p_iteration, 'd', jsonb_strip_nulls(
        jsonb_build_object('reason', p_error ->> 'message')))
    end,
    jsonb_build_object('k', 'checkpoint', 'i', p_iteration, 'r', 'terminal'));
end $$;
