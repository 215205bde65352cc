-- The size of a lane's context as of p_upto, in bytes before the database compresses them: its latest anchor and the
-- messages after it. Reads no payloads.
create or replace function lanefold._lane_bytes(p_thread_id text, p_context_ref text, p_upto bigint)
returns bigint language plpgsql stable as $$
declare
  v_anchor bigint;
  v_bytes bigint;
  v_more bigint;
begin
  select e.seq, e.bytes::bigint into v_anchor, v_bytes from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    and e.seq <= p_upto
  order by e.seq desc limit 1;
  select sum(e.bytes) into v_more from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message'
    and e.seq > coalesce(v_anchor, -1) and e.seq <= p_upto;
  return coalesce(v_bytes, 0) + coalesce(v_more, 0);
end $$;
