-- Adds the job of a run to BullMQ's queue in this database, in the same transaction as the run. p: the request, as
-- enqueue_run takes it. BullMQ documents no call for this: the signature is the one of 6.x, to which the package is
-- pinned, and a test checks it. Two locks are held until the commit: one makes a second add of the same job wait, the
-- other delays wake-ups. This is therefore the last statement of its function; a batch that contains it takes
-- milliseconds.
create or replace function lanefold._add_job(p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb)
returns void language plpgsql as $$
declare
  v_id constant text := lanefold._job_id(p_run_id, p_enqueue_no);
  v_delay_ms constant bigint := coalesce((p ->> 'delay_ms')::bigint, 0);
  v_priority constant int := coalesce((p #>> '{options,priority}')::int, 0);
begin
  perform bullmq.add_job(p ->> 'job_queue', v_id, 'run', lanefold._job_data(p_thread_id, p_run_id, p_enqueue_no, p ->> 'agent'),
    lanefold._job_options(v_id)
      || case when v_delay_ms > 0 then jsonb_build_object('delay', v_delay_ms) else '{}' end
      || case when v_priority > 0 then jsonb_build_object('priority', v_priority) else '{}' end,
    v_priority, v_delay_ms, (extract(epoch from lanefold._now()) * 1000)::bigint, 1, null, null, null, null, null, false);
end $$;

-- Adds the job of a run that the worker of this process has claimed in the same transaction: active, under the lock of
-- that worker, as if it had taken the job. BullMQ has no function for this, so it writes the row and the two events
-- itself; a test compares them with those of a job that was added and taken. No worker is woken.
create or replace function lanefold._add_taken_job(p_thread_id text, p_run_id text, p jsonb)
returns void language plpgsql as $$
declare
  v_id constant text := lanefold._job_id(p_run_id, 1);
  v_now constant bigint := (extract(epoch from lanefold._now()) * 1000)::bigint;
begin
  insert into bullmq.job (queue, id, seq, name, state, data, opts, added_at_ms, processed_at_ms, processed_by, attempts_started,
    lock_token, locked_until_ms)
  values (p ->> 'job_queue', v_id, nextval('bullmq.job_seq'), 'run', 'active',
    lanefold._job_data(p_thread_id, p_run_id, 1, p ->> 'agent'), lanefold._job_options(v_id), v_now, v_now, p #>> '{claim,worker_id}', 1,
    p #>> '{claim,job_token}', v_now + (p #>> '{claim,job_lock_ms}')::bigint)
  on conflict (queue, id) do nothing;
  perform bullmq.publish_event(p ->> 'job_queue', 'added', jsonb_build_object('jobId', v_id, 'name', 'run'));
  perform bullmq.publish_event(p ->> 'job_queue', 'active', jsonb_build_object('jobId', v_id, 'prev', 'waiting'));
end $$;

-- The id under which BullMQ has the job of a run. PostgreSQL inlines the function.
create or replace function lanefold._job_id(p_run_id text, p_enqueue_no int)
returns text language sql immutable parallel safe as $$
  select p_run_id || '.' || p_enqueue_no::text;
$$;

-- What BullMQ keeps as the options of every job. PostgreSQL inlines the function.
create or replace function lanefold._job_options(p_job_id text)
returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object('attempts', 1, 'jobId', p_job_id);
$$;
