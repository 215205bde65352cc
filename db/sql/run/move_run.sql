-- Notes that a worker took the job of a run without knowing the agent, and notifies workers that know it on the
-- channel lanefold_agent. From now on the job of the run is in the queue of its agent. Returns true if the caller has
-- to add it there. Returns false if p_patience_ms (null: no limit) have passed since a worker that knows the agent was
-- last seen, or if the run needs no job under p_enqueue_no: it has another one, has ended, or a worker holds it.
create or replace function lanefold.move_run(p_thread_id text, p_run_id text, p_enqueue_no int, p_patience_ms int)
returns boolean language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no
    and (status = 'queued' or status = 'running' and lanefold._lease_over(lease_until, lease_ms, v_at));
  if not found or r.agent_unknown_since < v_at - p_patience_ms * interval '1 ms' then
    return false;
  end if;
  perform lanefold._move_run(p_thread_id, r, null, null, null, v_at);
  return true;
end $$;

-- Gives a run to workers that have the tools it needs, because a worker with its agent lacks some: p: {tools: [as _has_tools takes
-- them], enqueue_no: of the job that the worker took, lease?: of the worker that holds the run and gives it back; its claim does
-- not count}. Returns {agent_queue: to which the caller adds the job, under the same number}, {cancel_requested: true} if the run
-- that it holds is to be cancelled, or {} if the run needs no job under this number.
create or replace function lanefold.move_for_tools(p_thread_id text, p_run_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
  v_tools text[];
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = (p ->> 'enqueue_no')::int and case
    when p ? 'lease' then status = 'running' and lease = (p ->> 'lease')::bigint
    else status = 'queued' or status = 'running' and lanefold._lease_over(lease_until, lease_ms, v_at) end;
  if not found then
    return jsonb_build_object();
  elsif p ? 'lease' and r.cancel_requested_at is not null then
    return jsonb_build_object('cancel_requested', true);
  end if;
  -- those noted before are still needed: a claim forgets them
  select array_agg(distinct t order by t) into v_tools
  from (select jsonb_array_elements_text(p -> 'tools') as t union all select unnest(r.unknown_tools) where r.agent_unknown_since is not null) x;
  if p ? 'lease' then
    update lanefold._run
    set status = 'queued', lease_until = null, worker_id = null, claims_without_progress = greatest(claims_without_progress - 1, 0), claims_alone = greatest(claims_alone - 1, 0)
    where thread_id = p_thread_id and id = p_run_id;
  end if;
  return jsonb_build_object('agent_queue', lanefold._move_run(p_thread_id, r, case when r.agent_unknown_since is not null then r.unknown_version end,
    case when r.agent_unknown_since is not null then r.unknown_strategy end, v_tools, v_at));
end $$;

-- Notes that a worker lacks the agent of a run, or its given version, strategy or tools, and notifies workers that have all on the
-- channel lanefold_agent. From now on the job of the run is in the queue that _agent_queue names; returns that name. The caller
-- holds the lock of the thread and has the row `r`.
create or replace function lanefold._move_run(
  p_thread_id text, r lanefold._run, p_unknown_version text, p_unknown_strategy text, p_unknown_tools text[], p_at timestamptz
) returns text language plpgsql as $$
declare
  v_queue constant text := lanefold._agent_queue(r.agent, p_unknown_version, p_unknown_strategy, p_unknown_tools);
begin
  update lanefold._run
  set agent_unknown_since = coalesce(r.agent_unknown_since, p_at), unknown_version = p_unknown_version,
      unknown_strategy = p_unknown_strategy, unknown_tools = p_unknown_tools, enqueued_at = p_at
  where thread_id = p_thread_id and id = r.id;
  -- neither prefixes nor names of agents and strategies contain a space
  perform pg_notify('lanefold_agent', r.queue_prefix || ' ' || v_queue);
  return v_queue;
end $$;
