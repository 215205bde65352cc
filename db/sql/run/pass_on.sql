-- Notes that a worker lacks the agent of a run, or the given strategy, and notifies workers that have both on the
-- channel lanefold_agent. From now on the job of the run is in the queue that _agent_queue names. The caller holds the
-- lock of the thread and has the row `r`.
create or replace function lanefold._pass_on(p_thread_id text, r lanefold._run, p_unknown_strategy text, p_at timestamptz)
returns void language plpgsql as $$
begin
  update lanefold._run
  set agent_unknown_since = coalesce(r.agent_unknown_since, p_at), unknown_strategy = p_unknown_strategy, enqueued_at = p_at
  where thread_id = p_thread_id and id = r.id;
  -- neither prefixes nor names of agents and strategies contain a space
  perform pg_notify('lanefold_agent', r.queue_prefix || ' ' || lanefold._agent_queue(r.agent, p_unknown_strategy));
end $$;
