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
  v_run constant text := p ->> 'run_id';
  v_at timestamptz;
  v_thread record;
  v_created boolean := false;
  v_queued boolean := true;
  v_interrupts boolean := false;
  v_answer json;
  v_context_ref text;
  r lanefold._run;
  v_ended text;
  v_claim json;
begin
  if t.id is null and (p -> 'create_thread')::boolean then
    v_thread := lanefold._make_thread(p_thread_id, p);
    t := v_thread.made;
    v_created := v_thread.created;
  end if;
  if v_created then
    v_at := t.created_at;
  elsif t.id is null then
    perform lanefold._fail('LF001', format('Thread %s does not exist.', p_thread_id),
      'Check the id, or create the thread with the run: "create_thread": true over HTTP, createThread: true in code.');
  else
    perform lanefold._check_thread(p_thread_id, t);
    v_at := lanefold._now();
    v_answer := lanefold._accepted_before(p_thread_id, t, p);
    if v_answer is not null then
      return v_answer;
    end if;
    v_queued := t.active_run_id is null;
    v_interrupts := not v_queued and p ->> 'busy' = 'interrupt';
    if not v_queued then
      perform lanefold._check_busy(p_thread_id, t, p ->> 'busy');
    end if;
    update lanefold.thread
    set active_run_id = coalesce(active_run_id, v_run), waiting_runs = waiting_runs + (not v_queued)::int, updated_at = v_at
    where id = p_thread_id;
  end if;

  if not lanefold._is_well_formed(p) then
    perform lanefold._refuse_request(p);
  end if;
  v_context_ref := coalesce(p ->> 'context_ref', t.active_context_ref, 'default');
  perform lanefold._check_id(v_context_ref, 'context_ref');
  -- the lanes of an empty thread need no check
  if t.rev > 0 or pg_column_size(p -> 'input') > lanefold._max_context_bytes(p) then
    perform lanefold._check_context(p_thread_id, v_context_ref, pg_column_size(p -> 'input'), p);
  end if;
  if p ? 'parent' then
    p := jsonb_set(p, '{options,parent}', p -> 'parent');
  end if;
  if not v_queued and p ->> 'context_ref' is null then
    p := p || jsonb_build_object('options', coalesce(p -> 'options', '{}') || '{"active_lane": true}');
  end if;

  select * into r from lanefold._run_of(p_thread_id, t.tenant_id, v_context_ref, v_at, p);
  r.interrupts := v_interrupts;
  r.start_at := v_at + (p ->> 'delay_ms')::float8 * interval '1 ms';
  r.expires_at := coalesce(r.start_at, v_at) + (p ->> 'ttl_ms')::float8 * interval '1 ms';
  r.ready_at := greatest(v_at, r.start_at);
  if not v_queued then
    r.status := 'waiting';
    r.active := false;
    r.enqueue_no := 0;
    r.ready_at := null;
  end if;
  insert into lanefold._run values (r.*);
  if p ?| array['parent', 'thread_version', 'contents'] then
    perform lanefold._write_with_run(p_thread_id, t.tenant_id, p);
  end if;

  if v_interrupts then
    v_ended := lanefold._interrupt(p_thread_id, v_run, t.active_run_id);
    perform from lanefold._run where thread_id = p_thread_id and id = v_run and status = 'queued';
    v_queued := found;
  end if;
  if not v_queued then
    v_answer := lanefold._request_answer(v_run, 'waiting', 0, lanefold._shard_of(p), false);
  else
    if r.start_at is null and not v_interrupts and lanefold._takes_directly(p) then
      v_claim := lanefold._claim_run(p_thread_id, t, v_run, 1, p -> 'claim');
    end if;
    v_answer := lanefold._accepted(p_thread_id, t.tenant_id, p, v_claim);
  end if;
  if v_ended is not null then
    v_answer := (v_answer::jsonb || jsonb_build_object('ended', v_ended))::json;
  end if;
  return v_answer;
end $$;

-- Creates the thread of a request p, whose run will be its active one. Returns its row, also if another transaction has just
-- created it, and whether it is new.
create or replace function lanefold._make_thread(p_thread_id text, p jsonb, out made lanefold.thread, out created boolean)
language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_tenant constant text := lanefold._new_tenant(p);
  v_chained constant boolean := lanefold._is_chained(v_tenant);
  v_run constant text := p ->> 'run_id';
begin
  insert into lanefold.thread as t (id, tenant_id, chained, active_run_id, created_at, updated_at)
  values (p_thread_id, v_tenant, v_chained, v_run, v_at, v_at)
  on conflict (id) do nothing returning t.* into made;
  created := found;
  if created then
    perform lanefold._check_id(p_thread_id, 'thread id');
    return;
  end if;
  select t.* into made from lanefold.thread t where t.id = p_thread_id for update;
  if not found then
    perform lanefold._fail_taken(p_thread_id);
  end if;
end $$;

-- The answer to a request whose run the thread has already: the same request, or another one for a compaction of the lane. Null
-- for a new request. Raises LF007.
create or replace function lanefold._accepted_before(p_thread_id text, t lanefold.thread, p jsonb)
returns json language plpgsql as $$
declare
  r lanefold._run;
  v_claim json;
begin
  -- two queries, one per index: a single one with OR may read every run of the thread
  select * into r from lanefold._run where thread_id = p_thread_id and request_id = p ->> 'request_id';
  if not found then
    select * into r from lanefold._run where thread_id = p_thread_id and id = p ->> 'request_id' and request_id is null;
  end if;
  if found then
    if r.request_hash <> lanefold._request_hash(p) then
      perform lanefold._fail('LF007', format('Request %s was already accepted with another body, as run %s.', p ->> 'request_id', r.id),
        'Use a new request id for a new request.');
    end if;
    if r.id = p ->> 'run_id' and p -> 'claim' ? 'repeated' and r.status = 'running' and r.lease = (p #>> '{claim,lease_gap}')::bigint
      and lanefold._sees_all() then
      -- This very request, repeated by a worker that did not receive its claim, and which nothing has changed since: the
      -- first lease of a run is the gap of its claim.
      v_claim := lanefold._claim_run(p_thread_id, t, r.id, 1, p -> 'claim');
    end if;
    return (lanefold._request_answer(r.id, r.status, r.enqueue_no, r.queue_shard, true)::jsonb || jsonb_build_object('claim', v_claim))::json;
  end if;
  if p -> 'options' ? 'compaction' then
    -- one compaction of a lane at a time
    select * into r from lanefold._run
    where thread_id = p_thread_id and id = t.active_run_id and context_ref = p ->> 'context_ref' and options ? 'compaction';
    if not found then
      select * into r from lanefold._run
      where thread_id = p_thread_id and not active and finished_at is null and context_ref = p ->> 'context_ref'
        and options ? 'compaction' limit 1;
    end if;
    if found then
      return lanefold._request_answer(r.id, r.status, r.enqueue_no, r.queue_shard, true);
    end if;
  end if;
  return null;
end $$;

-- Writes what few requests have: the place of the run in a tree, a version that the thread keeps, and large texts.
create or replace function lanefold._write_with_run(p_thread_id text, p_tenant text, p jsonb)
returns void language plpgsql as $$
begin
  if p ? 'parent' then
    insert into lanefold._child_run (thread_id, tenant_id, run_id, parent_thread_id, parent_run_id, parent_round, parent_index,
      root_thread_id, root_run_id, depth)
    values (p_thread_id, p_tenant, p ->> 'run_id', p #>> '{parent,thread_id}', p #>> '{parent,run_id}', (p #>> '{parent,round}')::int,
      (p #>> '{parent,index}')::smallint, p #>> '{parent,root_thread_id}', p #>> '{parent,root_run_id}', (p #>> '{parent,depth}')::smallint);
  end if;
  if p ? 'thread_version' then
    update lanefold.thread set versions = jsonb_build_object(p ->> 'agent', p -> 'thread_version') || coalesce(versions, '{}')
    where id = p_thread_id;
  end if;
  if p ? 'contents' then
    perform lanefold._store_contents(p_thread_id, p_tenant, p -> 'contents');
  end if;
end $$;

-- Whether the request p has nothing that _refuse_request raises for. PostgreSQL inlines the function.
create or replace function lanefold._is_well_formed(p jsonb)
returns boolean language sql immutable parallel safe as $$
  select lanefold._small_json_problem(p #> '{input,refs}', 'refs') is null and lanefold._depth_problem(p) is null
    and (jsonb_typeof(p #> '{input,content}') = 'string' or lanefold._content_problem(p #> '{input,content}') is null);
$$;

-- Raises LF014 for refs that are no small object, a request that is nested too deep, and parts of content with a problem.
create or replace function lanefold._refuse_request(p jsonb)
returns void language plpgsql immutable as $$
begin
  perform lanefold._check_small_json(p #> '{input,refs}', 'refs', 'The request');
  perform lanefold._check_depth(p, 'The request');
  if jsonb_typeof(p #> '{input,content}') = 'array' and lanefold._content_problem(p #> '{input,content}') is not null then
    perform lanefold._fail('LF014', format('The input has %s.', lanefold._content_problem(p #> '{input,content}')),
      'Nothing was written. Correct it and send it again.');
  end if;
end $$;

-- The hash of a request, of which every run stores 128 bits.
create or replace function lanefold._request_hash(p jsonb)
returns bytea language sql immutable parallel safe as $$
  select substr(decode(p ->> 'request_hash', 'hex'), 1, 16);
$$;

-- The part of the queue that gets the job of a request.
create or replace function lanefold._shard_of(p jsonb)
returns smallint language sql immutable parallel safe as $$
  select coalesce((p ->> 'queue_shard')::smallint, 0::smallint);
$$;

-- The answer to a request. PostgreSQL inlines the function.
create or replace function lanefold._request_answer(p_run_id text, p_status text, p_enqueue_no int, p_shard smallint, p_duplicate boolean)
returns json language sql stable parallel safe as $$
  select json_build_object('run_id', p_run_id, 'status', p_status, 'enqueue_no', p_enqueue_no, 'queue_shard', p_shard, 'duplicate', p_duplicate);
$$;

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
  return json_build_object('run_id', p -> 'run_id',
    'status', case when (p_claim ->> 'claimed')::boolean then 'running' else coalesce(p_claim ->> 'status', 'queued') end,
    'enqueue_no', 1, 'queue_shard', lanefold._shard_of(p), 'duplicate', false, 'tenant_id', p_tenant, 'claim', p_claim);
end $$;
