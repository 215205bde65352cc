-- Finds work the queue has lost: running runs whose lease is past, and (by p_queued, keys the caller found missing in
-- the queue) queued ones. Raises their enqueue_no, so that a late job of the old number is refused, and returns what to
-- add again. Runs given to the queue less than p_grace_ms ago are left alone: another sweep has just done it. Of the
-- queues of another prefix only runs of p_adoptable agents that nobody has seen for p_adopt_ms are taken.
create or replace function lanefold.sweep_runs(
  p_grace_ms int, p_limit int, p_queued jsonb default '[]', p_prefix text default 'lf', p_adopt_ms int default 300000, p_adoptable text[] default '{}'
) returns table (thread_id text, run_id text, agent text, enqueue_no int, queue_shard smallint) language sql as $$
  update lanefold._run r
  set enqueue_no = r.enqueue_no + 1, enqueued_at = clock_timestamp(), queue_prefix = p_prefix
  from (
    select k.thread_id, k.id, k.enqueue_no from lanefold._run k
    where k.active and k.status = 'running' and (k.queue_prefix = p_prefix or k.agent = any (p_adoptable))
      and k.lease_until < clock_timestamp() - case when k.queue_prefix = p_prefix then 0 else p_adopt_ms end * interval '1 ms'
      and k.enqueued_at < clock_timestamp() - p_grace_ms * interval '1 ms'
    union all
    select k.thread_id, k.id, k.enqueue_no from lanefold._run k
    join jsonb_to_recordset(p_queued) as q (thread_id text, run_id text, enqueue_no int)
      on k.thread_id = q.thread_id and k.id = q.run_id and k.enqueue_no = q.enqueue_no
    where k.active and k.status = 'queued'
    limit p_limit
  ) due
  -- the number again: where this waited for another sweep, that one has raised it
  where r.thread_id = due.thread_id and r.id = due.id and r.enqueue_no = due.enqueue_no and r.active
    and (r.status = 'queued' or r.lease_until < clock_timestamp())
  returning r.thread_id, r.id, r.agent, r.enqueue_no, r.queue_shard;
$$;
