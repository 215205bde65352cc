-- Accepts a run.
-- p: {run_id, request_id, request_hash, agent, strategy, model, context_ref?, input, options?, busy:
-- reject|wait|interrupt, create_thread?, tenant_id?, queue_prefix?, queue_shard?, job_queue?, max_context_bytes?,
-- contents?: large texts of the input, see _store_contents, traceparent?, delay_ms?: no worker starts the run before,
-- ttl_ms?: how long after that a worker may start it, claim?: the p of claim_run for a worker in the caller's process,
-- which takes the run at once, with job_queue also job_token and job_lock_ms, thread_version?: a version of the agent that the thread
-- keeps, unless it has one, job_later?: true: the caller adds the job of a
-- run that is not claimed, parent?: {thread_id, run_id, round, index, root_thread_id, root_run_id, depth, …} of the tool
-- call that started it}. options.priority: of the job, as in BullMQ.
-- With job_queue, the name of a BullMQ queue in this database, the job is added in the same transaction; otherwise the
-- caller adds the job of a `queued` run. Without context_ref the run is on the thread's active lane. Repeating a
-- request_id with the same hash returns the same run, before `busy` is considered. An interrupt ends earlier
-- interrupts that have not started as superseded, cancels the active run and starts next, at once if no worker holds
-- that run.
-- With `claim`, a run that may start now is claimed in the same transaction, and its job is added as one that the worker
-- has taken, so that no other worker looks at it; a paused or limited queue keeps the run queued.
-- Returns {run_id, status, enqueue_no, queue_shard, duplicate, tenant_id?: of a run that may start, claim?: as claim_run returns it,
-- ended?: the active run that an interrupt has ended}. Raises LF004 busy, LF007
-- another body under the request_id, LF016 bad id, LF023 context too large.
create or replace function lanefold.enqueue_run(p_thread_id text, p jsonb)
returns json language plpgsql
-- another transaction may have inserted the thread without having committed
set lock_timeout = '2s' as $$
begin
  return lanefold._enqueue_run(p_thread_id, lanefold._await_thread(p_thread_id), p);
end $$;

-- enqueue_run, for a caller that holds the lock of the thread. `t` is its row, null if the thread does not exist yet.
create or replace function lanefold._enqueue_run(p_thread_id text, t lanefold.thread, p jsonb)
returns json language plpgsql as $$
declare
  r lanefold._run;
  v_run constant text := p ->> 'run_id';
  v_hash constant bytea := substr(decode(p ->> 'request_hash', 'hex'), 1, 16); -- 128 bits: every run stores it
  v_shard constant smallint := coalesce((p ->> 'queue_shard')::smallint, 0::smallint);
  v_at timestamptz;
  v_start_at timestamptz;
  v_expires_at timestamptz;
  v_created boolean := false;
  v_queued boolean := true;
  v_interrupts boolean := false;
  v_ended text;
  v_answer json;
  v_context_ref text;
  v_tenant text;
  v_chained boolean;
  v_claim json;
begin
  if t.id is null and (p -> 'create_thread')::boolean then
    v_at := lanefold._now();
    v_tenant := lanefold._new_tenant(p);
    v_chained := lanefold._is_chained(v_tenant);
    insert into lanefold.thread (id, tenant_id, chained, active_run_id, created_at, updated_at)
    values (p_thread_id, v_tenant, v_chained, v_run, v_at, v_at)
    on conflict (id) do nothing returning * into t;
    v_created := found;
    if not v_created then
      -- another transaction has just created it
      select * into t from lanefold.thread where id = p_thread_id for update;
      if t.id is null then
        perform lanefold._fail_taken(p_thread_id);
      end if;
    end if;
  end if;
  if v_created then
    perform lanefold._check_id(p_thread_id, 'thread id');
  else
    perform lanefold._check_thread(p_thread_id, t);
    v_at := lanefold._now();
    -- two queries, one per index: a single one with OR may read every run of the thread
    select * into r from lanefold._run where thread_id = p_thread_id and request_id = p ->> 'request_id';
    if not found then
      select * into r from lanefold._run where thread_id = p_thread_id and id = p ->> 'request_id' and request_id is null;
    end if;
    if found then
      if r.request_hash <> v_hash then
        perform lanefold._fail('LF007', format('Request %s was already accepted with another body, as run %s.', p ->> 'request_id', r.id),
          'Use a new request id for a new request.');
      end if;
      if r.id = v_run and p -> 'claim' ? 'repeated' and r.status = 'running' and r.lease = (p #>> '{claim,lease_gap}')::bigint
        and lanefold._sees_all() then
        -- This very request, repeated by a worker that did not receive its claim, and which nothing has changed since: the
        -- first lease of a run is the gap of its claim.
        v_claim := lanefold._claim_run(p_thread_id, t, v_run, 1, p -> 'claim');
      end if;
      return json_build_object('run_id', r.id, 'status', r.status, 'enqueue_no', r.enqueue_no, 'queue_shard', r.queue_shard,
        'duplicate', true, 'claim', v_claim);
    end if;
    if p -> 'options' ? 'compaction' then
      -- one compaction of a lane at a time: another request returns the same run
      select * into r from lanefold._run
      where thread_id = p_thread_id and id = t.active_run_id and context_ref = p ->> 'context_ref' and options ? 'compaction';
      if not found then
        select * into r from lanefold._run
        where thread_id = p_thread_id and not active and finished_at is null and context_ref = p ->> 'context_ref'
          and options ? 'compaction' limit 1;
      end if;
      if found then
        return json_build_object('run_id', r.id, 'status', r.status, 'enqueue_no', r.enqueue_no, 'queue_shard', r.queue_shard,
          'duplicate', true);
      end if;
    end if;
    v_queued := t.active_run_id is null;
    if not v_queued and coalesce(p ->> 'busy', '') not in ('wait', 'interrupt')
      -- a compaction does not make the thread busy: it ends soon, and the request waits
      and not exists (select from lanefold._run k where k.thread_id = p_thread_id and k.id = t.active_run_id and k.options ? 'compaction')
    then
      perform lanefold._fail('LF004', format('Thread %s is busy with run %s.', p_thread_id, t.active_run_id),
        'Wait for it to end, or enqueue with busy: "wait" or "interrupt".');
    end if;
    v_interrupts := not v_queued and p ->> 'busy' = 'interrupt';
    update lanefold.thread
    set active_run_id = coalesce(active_run_id, v_run), waiting_runs = waiting_runs + (not v_queued)::int, updated_at = v_at
    where id = p_thread_id;
  end if;
  if p ? 'parent' then
    p := jsonb_set(p, '{options,parent}', p -> 'parent');
    insert into lanefold._child_run (thread_id, tenant_id, run_id, parent_thread_id, parent_run_id, parent_round, parent_index,
      root_thread_id, root_run_id, depth)
    values (p_thread_id, t.tenant_id, v_run, p #>> '{parent,thread_id}', p #>> '{parent,run_id}', (p #>> '{parent,round}')::int,
      (p #>> '{parent,index}')::smallint, p #>> '{parent,root_thread_id}', p #>> '{parent,root_run_id}', (p #>> '{parent,depth}')::smallint);
  end if;
  perform lanefold._check_small_json(p #> '{input,refs}', 'refs', 'The request');
  perform lanefold._check_depth(p, 'The request');
  if jsonb_typeof(p #> '{input,content}') = 'array' and lanefold._content_problem(p #> '{input,content}') is not null then
    perform lanefold._fail('LF014', format('The input has %s.', lanefold._content_problem(p #> '{input,content}')),
      'Nothing was written. Correct it and send it again.');
  end if;
  v_context_ref := coalesce(p ->> 'context_ref', t.active_context_ref, 'default');
  perform lanefold._check_id(v_context_ref, 'context_ref');
  -- the lanes of an empty thread need no check
  if t.rev > 0 or pg_column_size(p -> 'input') > lanefold._max_context_bytes(p) then
    perform lanefold._check_context(p_thread_id, v_context_ref, pg_column_size(p -> 'input'), p);
  end if;
  v_start_at := v_at + (p ->> 'delay_ms')::float8 * interval '1 ms';
  v_expires_at := coalesce(v_start_at, v_at) + (p ->> 'ttl_ms')::float8 * interval '1 ms';
  insert into lanefold._run (thread_id, tenant_id, caller, id, request_id, request_hash, agent, strategy, model, context_ref, input,
    options, status, active, interrupts, enqueue_no, queue_prefix, queue_shard, created_at, enqueued_at, ready_at, traceparent,
    start_at, expires_at)
  values (p_thread_id, t.tenant_id, p ->> 'caller', v_run, nullif(p ->> 'request_id', v_run), v_hash, p ->> 'agent', p ->> 'strategy',
    p ->> 'model', v_context_ref, p -> 'input', case when not v_queued and p ->> 'context_ref' is null
      then coalesce(p -> 'options', '{}') || '{"active_lane": true}' else p -> 'options' end, case when v_queued then 'queued' else 'waiting' end, v_queued,
    v_interrupts, v_queued::int, coalesce(p ->> 'queue_prefix', 'lf'), v_shard, v_at, v_at, case when v_queued then greatest(v_at, v_start_at) end, p ->> 'traceparent', v_start_at, v_expires_at);
  if p ? 'thread_version' then
    update lanefold.thread set versions = jsonb_build_object(p ->> 'agent', p -> 'thread_version') || coalesce(versions, '{}')
    where id = p_thread_id;
  end if;
  if p ? 'contents' then
    perform lanefold._store_contents(p_thread_id, t.tenant_id, p -> 'contents');
  end if;
  if v_interrupts then
    v_ended := lanefold._make_way(p_thread_id, v_run, t.active_run_id);
    perform from lanefold._run where thread_id = p_thread_id and id = v_run and status = 'queued';
    v_queued := found;
  end if;
  if v_queued then
    if v_start_at is null and not v_interrupts and lanefold._takes_directly(p) then
      v_claim := lanefold._claim_run(p_thread_id, t, v_run, 1, p -> 'claim');
    end if;
    v_answer := lanefold._accepted(p_thread_id, t.tenant_id, p, v_claim);
  else
    v_answer := json_build_object('run_id', v_run, 'status', 'waiting', 'enqueue_no', 0, 'queue_shard', v_shard, 'duplicate', false);
  end if;
  if v_ended is null then
    return v_answer;
  end if;
  return (v_answer::jsonb || jsonb_build_object('ended', v_ended))::json;
end $$;

-- Adds the job of a run that may start, and returns the answer to its request p. p_claim: the answer of the run's claim,
-- if it was claimed at once.
create or replace function lanefold._accepted(p_thread_id text, p_tenant text, p jsonb, p_claim json)
returns json language plpgsql as $$
begin
  if p ? 'job_queue' then
    if p_claim is null and not p ? 'job_later' then
      perform lanefold._add_job(p_thread_id, p ->> 'run_id', 1, p);
    elsif (p_claim ->> 'claimed')::boolean then
      perform lanefold._add_taken_job(p_thread_id, p ->> 'run_id', p);
    end if;
  end if;
  return json_build_object('run_id', p -> 'run_id', 'status', case when (p_claim ->> 'claimed')::boolean then 'running' else coalesce(p_claim ->> 'status', 'queued') end,
    'enqueue_no', 1, 'queue_shard', coalesce((p ->> 'queue_shard')::smallint, 0::smallint), 'duplicate', false, 'tenant_id', p_tenant, 'claim', p_claim);
end $$;
