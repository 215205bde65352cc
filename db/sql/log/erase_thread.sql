-- The only deletion: removes all data of a thread and leaves a tombstone, so that the id is never used again. Raises
-- LF004 while a run is active, and LF001 and LF003 as every writer does. Runs with the rights of its owner, because no
-- other role can delete entries; grants.sql decides which roles may execute it.
create or replace function lanefold.erase_thread(p_thread_id text)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  t lanefold.thread;
  v_at timestamptz;
begin
  t := lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  if t.active_run_id is not null then
    perform lanefold._fail('LF004', format('Thread %s is busy with run %s.', p_thread_id, t.active_run_id), 'Cancel the run first.');
  end if;
  update lanefold.thread
  set erased_at = v_at, updated_at = v_at, metadata = '{}', state = '{}', rev = 0, event_rev = 0, waiting_runs = 0, pending_op_id = null, pending_branch = null
  where id = p_thread_id;
  perform lanefold._leave_contents(p_thread_id);
  delete from lanefold._webhook_event where thread_id = p_thread_id;
  delete from lanefold._webhook_delivery where thread_id = p_thread_id;
  delete from lanefold._event_batch where thread_id = p_thread_id;
  delete from lanefold._tool_call where thread_id = p_thread_id;
  delete from lanefold._run_node where thread_id = p_thread_id;
  delete from lanefold._run_mark where thread_id = p_thread_id;
  delete from lanefold.pending_input where thread_id = p_thread_id;
  delete from lanefold._append_receipt where thread_id = p_thread_id;
  delete from lanefold.context_op where thread_id = p_thread_id;
  delete from lanefold._lane where thread_id = p_thread_id;
  -- what others have yet to hear of stays without its text, until a worker has told them: end_wait_task, told_parent
  update lanefold._wait set request = null where thread_id = p_thread_id and task = 'cancel';
  delete from lanefold._wait where thread_id = p_thread_id and task is distinct from 'cancel';
  delete from lanefold._child_run where thread_id = p_thread_id and (ended_at is null or told_at is not null);
  delete from lanefold._run where thread_id = p_thread_id;
  delete from lanefold._entry where thread_id = p_thread_id;
  -- the nodes of a distributed database have no streams: the library calls this there
  if to_regclass('lanefold._stream') is not null then
    perform lanefold.erase_streams(p_thread_id);
  end if;
  if not exists (select from pg_extension where extname = 'citus') then
    perform lanefold.erase_cases(p_thread_id);
  end if;
end $$;
