-- Tells the thread of a parent run that a child run has ended: ends the open waits for it, and notes its end and what it
-- cost. p_thread_id: of the parent. p: {child_run_id, outcome: {status, content}, cost?: in US dollars, with its
-- descendants, queue_prefix}. Repeating it has no effect. Returns the jobs of the runs that continue. Without the thread,
-- there is nothing to tell.
create or replace function lanefold.end_child(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  w record;
  v_at timestamptz;
  v_end jsonb;
  v_jobs jsonb := '[]'::jsonb;
begin
  t := lanefold._await_thread(p_thread_id);
  if t.id is null or t.erased_at is not null then
    return v_jobs;
  end if;
  v_at := lanefold._now();
  for w in
    select k.run_id, k.round, k.call_index from lanefold._wait k
    where k.thread_id = p_thread_id and k.child_run_id = p ->> 'child_run_id' and k.status = 'open' and k.kind = 'run'
  loop
    v_end := lanefold._end_wait(p_thread_id, w.run_id, w.round, w.call_index, jsonb_build_object('status', 'resolved', 'outcome', p -> 'outcome',
      'queue_prefix', p -> 'queue_prefix'));
    select * into t from lanefold.thread where id = p_thread_id;
    if v_end ? 'job' then
      v_jobs := v_jobs || jsonb_build_array(v_end -> 'job');
    end if;
  end loop;
  update lanefold._wait set child_ended_at = v_at, child_cost = (p ->> 'cost')::float8, task = null
  where thread_id = p_thread_id and child_run_id = p ->> 'child_run_id' and child_ended_at is null;
  return v_jobs;
end $$;
