-- Claims a run for a worker. p_enqueue_no must be the run's, and the run queued, or running with an expired lease. The
-- first claim writes the user message, `request_started` and `llm_started`, and first the prompt if the lane has
-- another. Later claims write nothing to the log; one that takes over from a lost worker adds `worker_lost` to the
-- trace.
-- p: {worker_id, lease_ms, prompt: null for none, absent if the worker does not know the agent, which leaves the lane
-- its prompt, config_fingerprint, max_claims_without_progress, alone: whether the worker holds no other run and takes
-- none until this one has made progress, strategies: the names of those it knows, lease_gap?: a random number by which
-- the lease number rises, so that a claim lost in a failover and the next claim do not share a number,
-- max_context_bytes?}.
-- Returns {claimed: false, status, reason, promoted?: the run that becomes active if this ended one} or
-- {claimed: true, fresh, lease, step, …, context, calls, nodes: the answers its strategy has, elapsed_ms: since it
-- started}. The reason is unknown, superseded, leased, not_queued, poisoned, context_too_large (_fail_too_large);
-- alone: the run is queued for a worker that holds no other run (_fail_poisoned); unknown_strategy: the run was passed
-- on and the caller adds its job to the returned `agent_queue` (_move_run); early: the run may start delay_ms from now;
-- or expired: the run was not started in time and has failed.
create or replace function lanefold.claim_run(p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb)
returns json language plpgsql as $$
begin
  return lanefold._take_run(p_thread_id, lanefold._await_thread(p_thread_id), p_run_id, p_enqueue_no, p);
end $$;
