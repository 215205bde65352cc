-- Makes way for the interrupt p_run_id, which already waits: ends earlier interrupts that have not started and cancels
-- the active run. If no worker holds the active run it ends here, which promotes the interrupt. Returns the active run if
-- it has ended here: it may have taken slots of limits, which those that waited have not.
create or replace function lanefold._interrupt(p_thread_id text, p_run_id text, p_active_run_id text)
returns text language plpgsql as $$
declare
  r record;
begin
  for r in
    select w.id from lanefold._run w
    where w.thread_id = p_thread_id and not w.active and w.finished_at is null and w.interrupts and w.id <> p_run_id
    order by w.created_at
  loop
    perform lanefold.cancel_run(p_thread_id, r.id, 'superseded');
  end loop;
  select a.id, a.interrupts and a.started_at is null as not_begun into r
  from lanefold._run a where a.thread_id = p_thread_id and a.id = p_active_run_id;
  if found and lanefold.cancel_run(p_thread_id, r.id, case when r.not_begun then 'superseded' else 'interrupted' end) ->> 'status' = 'cancelled' then
    return r.id;
  end if;
  return null;
end $$;
