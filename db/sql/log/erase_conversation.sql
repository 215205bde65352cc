-- Erases a thread as erase_thread does and returns what was removed: {tenant_id, entries, events, runs, tool_calls,
-- inputs, operations, contents, jobs: [see _job_of], child_threads: [id]}.
-- `jobs` are the last jobs of its runs; the caller removes them from the queue. `child_threads` are those of the runs that
-- its tool calls asked for, which keep their text. Raises LF004 while a run is active, and LF001 and LF003 as every writer
-- does.
create or replace function lanefold.erase_conversation(p_thread_id text)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_jobs jsonb[] := array[]::jsonb[];
  v_removed jsonb;
begin
  t := lanefold._lock_thread(p_thread_id);
  for r in select * from lanefold._run where thread_id = p_thread_id loop
    v_jobs := v_jobs || lanefold._job_of(r);
  end loop;
  v_removed := jsonb_build_object('tenant_id', t.tenant_id, 'entries', t.rev, 'events', t.event_rev,
    'runs', (select count(*) from lanefold._run where thread_id = p_thread_id),
    'tool_calls', (select count(*) from lanefold._tool_call where thread_id = p_thread_id),
    'inputs', (select count(*) from lanefold.pending_input where thread_id = p_thread_id),
    'operations', (select count(*) from lanefold.context_op where thread_id = p_thread_id),
    'contents', (select count(*) from lanefold.content where thread_id = p_thread_id),
    'jobs', v_jobs,
    'child_threads', (select coalesce(jsonb_agg(distinct w.child_thread_id), '[]') from lanefold._wait w
      where w.thread_id = p_thread_id and w.request is not null));
  perform lanefold.erase_thread(p_thread_id);
  return v_removed;
end $$;
