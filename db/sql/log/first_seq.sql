-- {seq} of the first of the last p_count messages of a lane, {} for none: finds the entries of a step whose
-- acknowledgement was lost.
create or replace function lanefold._first_seq(p_thread_id text, p_context_ref text, p_count int)
returns jsonb language plpgsql stable as $$
declare
  v_seq bigint;
begin
  if p_count = 0 then
    return '{}'::jsonb;
  end if;
  select e.seq into v_seq from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message'
  order by e.seq desc offset p_count - 1 limit 1;
  return jsonb_build_object('seq', v_seq);
end $$;
