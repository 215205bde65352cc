-- Rebuilds the list of a thread's lanes, and where its branches begin, from its log.
create or replace function lanefold.rebuild_lanes(p_thread_id text)
returns void language plpgsql as $$
declare
  t lanefold.thread;
  v_lanes text[];
begin
  t := lanefold._lock_thread(p_thread_id);
  select array_agg(l.context_ref) into v_lanes from lanefold.lanes_from_log(p_thread_id) l;
  delete from lanefold._lane where thread_id = p_thread_id;
  insert into lanefold._lane (thread_id, tenant_id, context_ref) select p_thread_id, t.tenant_id, ref from unnest(v_lanes) ref;
  perform lanefold._note_branches(p_thread_id);
end $$;
