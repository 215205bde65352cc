-- Bytes of the input queued for a run. p_queued is the number of queued inputs; 0, the usual case, needs no query.
create or replace function lanefold._queued_bytes(p_thread_id text, p_run_id text, p_queued int)
returns bigint language plpgsql stable as $$
declare
  v_bytes bigint;
begin
  if p_queued = 0 then
    return 0::bigint;
  end if;
  select sum(octet_length(coalesce(parts::text, content)) + coalesce(octet_length(refs::text), 0)) into v_bytes from lanefold.pending_input
  where thread_id = p_thread_id and run_id = p_run_id and status = 'queued';
  return coalesce(v_bytes, 0);
end $$;
