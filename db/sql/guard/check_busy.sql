-- Raises LF004 if the thread has an active run and the request says neither to wait for it nor to interrupt it.
create or replace function lanefold._check_busy(p_thread_id text, t lanefold.thread, p_busy text)
returns void language plpgsql as $$
begin
  if t.active_run_id is not null and coalesce(p_busy, '') not in ('wait', 'interrupt')
    -- a compaction does not make the thread busy: it ends soon, and the request waits
    and not exists (select from lanefold._run k where k.thread_id = p_thread_id and k.id = t.active_run_id and k.options ? 'compaction')
  then
    perform lanefold._fail('LF004', format('Thread %s is busy with run %s.', p_thread_id, t.active_run_id),
      'Wait for it to end, or send the request with busy: "wait" or "interrupt".');
  end if;
end $$;
