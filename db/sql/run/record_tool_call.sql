-- Updates one row of the ledger while other calls of the round still run, and renews the lease: `started` before an
-- attempt, or the outcome. p: {status, attempts, duration_ms?, outcome?: {content, …}, contents?}. An outcome that is
-- already stored stays unchanged. Returns {cancel_requested}. Raises LF012 for a worker that no longer holds the run,
-- LF013 if the run has no such call.
create or replace function lanefold.record_tool_call(
  p_thread_id text, p_run_id text, p_lease bigint, p_lease_ms int, p_round int, p_call_index int, p jsonb
) returns jsonb language plpgsql as $$
begin
  perform lanefold._await_thread(p_thread_id);
  return lanefold._move_tool_call(p_thread_id, p_run_id, p_lease, p_lease_ms, p_round, p_call_index, p);
end $$;
