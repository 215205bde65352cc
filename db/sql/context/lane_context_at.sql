-- The projection: the context that the model sees on a lane after the entry p_upto, inclusive. First the prompt, if
-- there is one, then the messages of the latest anchor, then every later message, in order and unchanged; `ordinal`
-- counts from 0. The view lane_context returns the same for the head of every lane; a test compares the two.
create or replace function lanefold.lane_context_at(p_thread_id text, p_context_ref text, p_upto bigint)
returns table (
  thread_id text, context_ref text, anchor_seq bigint, ordinal bigint, seq bigint, role text, content jsonb,
  tool_calls jsonb, tool_call_id text, name text, thinking text, reasoning_details jsonb, provider_metadata jsonb,
  run_id text, request_id text, refs jsonb
) language plpgsql stable rows 100 as $$
declare
  v_prompt record;
  v_next bigint := 0::bigint;
begin
  select p.seq, p.prompt into v_prompt from lanefold._lane_prompt(p_thread_id, p_context_ref, p_upto) p;
  if v_prompt.prompt is not null then
    thread_id := p_thread_id;
    context_ref := p_context_ref;
    select coalesce(max(e.seq), -1) into anchor_seq from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor
      and e.seq <= p_upto;
    ordinal := 0;
    seq := v_prompt.seq;
    role := 'system';
    content := to_jsonb(v_prompt.prompt);
    return next;
    v_next := 1;
  end if;
  return query
  select p_thread_id, p_context_ref, m.anchor_seq, v_next + m.ordinal, m.seq, m.role, m.content, m.tool_calls, m.tool_call_id,
         m.name, m.thinking, m.reasoning_details, m.provider_metadata, m.run_id, m.request_id, m.refs
  from lanefold._lane_messages(p_thread_id, p_context_ref, p_upto) m;
end $$;
