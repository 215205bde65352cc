-- Removes from ended runs the data that only their trace has: events, nodes, state, and results that are not a message
-- of the log. Rows of runs and of the ledger stay, with their keys and numbers, and so does the log. Returns how many
-- runs were emptied; 0 if a writer holds the thread, which is retried next time.
create or replace function lanefold.drop_trace(p_thread_id text, p_run_ids text[])
returns int language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_at timestamptz;
  v_ids text[];
  v_batches bigint[];
  v_batch bigint;
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return 0;
  end if;
  v_at := lanefold._now();
  select array_agg(r.id) into v_ids from lanefold._run r
  where r.thread_id = p_thread_id and r.id = any (p_run_ids) and r.finished_at is not null and r.trace_dropped_at is null;
  if v_ids is null then
    return 0;
  end if;
  select array_agg(b.event_seq) into v_batches from lanefold._run_batch b
  where b.thread_id = p_thread_id and b.run_id = any (v_ids);
  -- one by one, because for a list PostgreSQL 15 reads the events of the whole thread
  foreach v_batch in array coalesce(v_batches, '{}') loop
    delete from lanefold._event_batch b where b.thread_id = p_thread_id and b.event_seq = v_batch;
  end loop;
  delete from lanefold._run_node where thread_id = p_thread_id and run_id = any (v_ids);
  update lanefold._run set trace_dropped_at = v_at, state = null, result = null, last_commit = null, input = null
  where thread_id = p_thread_id and id = any (v_ids);
  return cardinality(v_ids);
end $$;
