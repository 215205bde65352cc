-- Makes way for the interrupt p_run_id, which already waits: ends earlier interrupts that have not started and cancels
-- the active run. If no worker holds the active run it ends here, which promotes the interrupt. Returns the runs that
-- have ended here.
create or replace function lanefold._make_way(p_thread_id text, p_run_id text, p_active_run_id text)
returns text[] language plpgsql as $$
declare
  v_ended text[] := array[]::text[];
  r record;
begin
  for r in
    select w.id from lanefold._run w
    where w.thread_id = p_thread_id and not w.active and w.finished_at is null and w.interrupts and w.id <> p_run_id
    order by w.created_at
  loop
    perform lanefold.cancel_run(p_thread_id, r.id, 'superseded');
    v_ended := array_append(v_ended, r.id::text);
  end loop;
  select a.id, a.interrupts and a.started_at is null as not_begun into r
  from lanefold._run a where a.thread_id = p_thread_id and a.id = p_active_run_id;
  if found and lanefold.cancel_run(p_thread_id, r.id, case when r.not_begun then 'superseded' else 'interrupted' end) ->> 'status' = 'cancelled' then
    v_ended := array_append(v_ended, r.id::text);
  end if;
  return v_ended;
end $$;
