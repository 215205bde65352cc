-- Ends a run whose time to live is over. The caller holds the lock of the thread. Returns the answer of finish_run.
create or replace function lanefold._end_expired(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
begin
  return lanefold.finish_run(p_thread_id, p_run_id, null, jsonb_build_object('status', 'failed', 'reason', 'error', 'error',
    jsonb_build_object('type', 'expired', 'message', 'No worker started the run within its time to live.')));
end $$;
