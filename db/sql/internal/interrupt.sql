-- Makes way for the interrupt p_run_id, which waits already: ends earlier interrupts that have not begun and cancels the
-- active run. Where no worker holds that one it ends here, which promotes the interrupt. Returns whether it did.
create or replace function lanefold._interrupt(p_thread_id text, p_run_id text, p_active_run_id text)
returns boolean language plpgsql as $$
begin
  perform lanefold.cancel_run(p_thread_id, w.id, 'superseded')
  from (select id from lanefold._run
        where thread_id = p_thread_id and not active and finished_at is null and interrupts and id <> p_run_id order by created_at) w;
  perform lanefold.cancel_run(p_thread_id, r.id, case when r.interrupts and r.started_at is null then 'superseded' else 'interrupted' end)
  from lanefold._run r where r.thread_id = p_thread_id and r.id = p_active_run_id;
  return exists (select from lanefold._run where thread_id = p_thread_id and id = p_run_id and status = 'queued');
end $$;
