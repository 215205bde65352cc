-- Gives a run whose job the queue lost a new job: raises its enqueue_no, so that a late job under the old number is
-- rejected, and returns the job to add. p_enqueue_no is the number of the lost job. p: {grace_ms, prefix: of the queue
-- that takes the job, adopt_ms, adoptable: [agent], strategies: [those that the adopting workers know], agent_queue?:
-- present if the job goes to the queue of the run's agent}.
-- Returns no row if there is nothing to do: the run is neither queued nor running with an expired lease; it is running
-- and another sweep queued it again within grace_ms; it belongs to another queue and its agent or strategy is not
-- adoptable, or its lease has not been expired for adopt_ms (see _lease_over for a clock that went back); or a writer
-- holds the run, which the next sweep finds again.
create or replace function lanefold.queue_run_again(p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb)
returns table (thread_id text, run_id text, agent text, enqueue_no int, queue_shard smallint) language plpgsql as $$
declare
  r record;
  v_at timestamptz;
  v_own boolean;
begin
  select k.status, k.agent, k.queue_prefix, k.queue_shard, k.enqueued_at, k.lease_until, k.lease_ms,
    coalesce(k.options #>> '{selection,strategy}', k.strategy) as strategy into r from lanefold._run k
  where k.thread_id = p_thread_id and k.id = p_run_id and k.enqueue_no = p_enqueue_no and k.status in ('queued', 'running')
  for update skip locked;
  if not found then
    return;
  end if;
  v_at := lanefold._now();
  v_own := r.queue_prefix = p ->> 'prefix';
  if not v_own and (p -> 'adoptable' ? r.agent and p -> 'strategies' ? r.strategy) is not true then
    return;
  elsif r.status = 'running' and (abs(extract(epoch from v_at - r.enqueued_at)) * 1000 > (p ->> 'grace_ms')::float8
    and lanefold._lease_over(r.lease_until, r.lease_ms, v_at,
      case when v_own then 0 else (p ->> 'adopt_ms')::float8 end)) is not true then
    return;
  end if;
  update lanefold._run k set enqueue_no = p_enqueue_no + 1, enqueued_at = v_at, queue_prefix = p ->> 'prefix',
    agent_unknown_since = case when p ? 'agent_queue' then k.agent_unknown_since end
  where k.thread_id = p_thread_id and k.id = p_run_id;
  thread_id := p_thread_id;
  run_id := p_run_id;
  agent := r.agent;
  enqueue_no := p_enqueue_no + 1;
  queue_shard := r.queue_shard;
  return next;
end $$;
