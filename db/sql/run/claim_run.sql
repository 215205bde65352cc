-- Gives a run to a worker: p_enqueue_no must be the run's, and the run queued, or running with its lease past. The first
-- claim writes the prompt where the lane has another, the user message, `request_started` and `llm_started`; later ones
-- write nothing to the log; one that takes the run over from a worker that is gone writes `worker_lost` to the trace. p: {worker_id, lease_ms, prompt, config_fingerprint, max_claims_without_progress,
-- alone?: whether the worker holds no other run and takes none until this one has made progress,
-- lease_gap?: how far the number of the lease rises, a random number, so that a claim that a failover lost and the next one
-- do not share theirs, max_context_bytes?, strategies?: the names of those it knows}; prompt is null for none, and left out by a worker that does not know the agent and
-- leaves the lane its prompt.
-- Returns {claimed: false, status, reason, promoted?: the run that becomes active where this ended one} or
-- {claimed: true, fresh, lease, step, …, context, calls, nodes: the answers its strategy has, elapsed_ms: since it started}.
-- The reason is unknown, superseded, leased, not_queued, poisoned, context_too_large (_fail_too_large), alone: the run is
-- queued, for a worker that has nothing else (_fail_poisoned), unknown_strategy: the run was passed on, and the caller puts
-- its job into the `agent_queue` returned (_pass_on); early: not to be started before
-- delay_ms from now; or expired: it was too late to start the run, which has failed.
create or replace function lanefold.claim_run(p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb)
returns json language plpgsql as $$
begin
  return lanefold._take_run(p_thread_id, lanefold._await_thread(p_thread_id), p_run_id, p_enqueue_no, p);
end $$;
