-- Gives work the queue has lost a new job, by p_lost, the jobs the caller found to be lost: [{thread_id, run_id,
-- enqueue_no}] of queued runs and of running ones whose lease is past. Raises their enqueue_no, so that a late job of the
-- old number is refused, and returns what to add again. Of the running ones those given to the queue less than p_grace_ms
-- ago are left alone: another sweep has just done it. Of the queues of another prefix only runs of p_adoptable agents
-- that nobody has seen for p_adopt_ms are taken. A run that a writer holds is left to the next sweep, so this waits for nobody.
create or replace function lanefold.sweep_runs(
  p_grace_ms int, p_limit int, p_lost jsonb default '[]', p_prefix text default 'lf', p_adopt_ms int default 300000, p_adoptable text[] default '{}'
) returns table (thread_id text, run_id text, agent text, enqueue_no int, queue_shard smallint) language sql as $$
  with due as (
    select k.thread_id, k.id from lanefold._run k
    join jsonb_to_recordset(p_lost) as q (thread_id text, run_id text, enqueue_no int)
      on k.thread_id = q.thread_id and k.id = q.run_id and k.enqueue_no = q.enqueue_no
    where k.active and (k.queue_prefix = p_prefix or k.agent = any (p_adoptable))
      and (k.status = 'queued'
        or k.status = 'running' and k.enqueued_at < clock_timestamp() - p_grace_ms * interval '1 ms'
          and k.lease_until < clock_timestamp() - case when k.queue_prefix = p_prefix then 0 else p_adopt_ms end * interval '1 ms')
    limit p_limit
    for update of k skip locked
  )
  update lanefold._run r
  set enqueue_no = r.enqueue_no + 1, enqueued_at = clock_timestamp(), queue_prefix = p_prefix
  from due where r.thread_id = due.thread_id and r.id = due.id
  returning r.thread_id, r.id, r.agent, r.enqueue_no, r.queue_shard;
$$;
