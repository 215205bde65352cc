-- Whether the worker in the process that sends a request may take the run at once. p: the request, as enqueue_run takes
-- it. Only a session of a worker may claim, and a queue in this database that is paused, or has a limit, hands out its
-- jobs itself.
create or replace function lanefold._takes_directly(p jsonb)
returns boolean language plpgsql stable as $$
begin
  if not p ? 'claim' or not lanefold._sees_all() then
    return false;
  end if;
  -- with the queue in Redis, this database may lack the table, so no expression that is evaluated may name it
  if not p ? 'job_queue' then
    return true;
  end if;
  return not exists (
    select from bullmq.meta m
    where m.queue = p ->> 'job_queue' and (m.field in ('concurrency', 'max') or m.field = 'paused' and m.value = '1'));
end $$;
