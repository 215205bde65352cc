-- The system prompt of a lane as of p_upto: the latest, by seq, of the prompt changes that apply to the lane and the
-- prompts of its anchors (one without the key inherits, also from the anchor before it). No row: nothing has set one.
-- `source` is `agent` where a claim wrote the prompt of an agent's definition, which the next agent may replace.
create or replace function lanefold._lane_prompt(p_thread_id text, p_context_ref text, p_upto bigint)
returns table (seq bigint, prompt text, source text) language plpgsql stable rows 1 as $$
begin
  return query
  select c.seq, c.prompt, c.source from (
    (select e.seq, e.payload ->> 'value', e.refs ->> 'source'
     from lanefold._entry e
     where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_config_change'
       and e.payload ->> 'field' = 'system_prompt' and e.seq <= p_upto
     order by e.seq desc limit 1)
    union all
    (select e.seq, e.payload ->> 'value', e.refs ->> 'source'
     from lanefold._entry e
     where e.thread_id = p_thread_id and e.context_ref is null and e.kind = 'ai_config_change'
       and e.payload ->> 'field' = 'system_prompt' and e.seq <= p_upto
     order by e.seq desc limit 1)
    union all
    (select a.seq, a.payload -> 'operation' -> 'result_context' ->> 'system_prompt', 'anchor'
     from lanefold._entry a
     where a.thread_id = p_thread_id and a.context_ref = p_context_ref and a.kind = 'ai_context_operation' and a.is_anchor
       and a.seq <= p_upto and a.payload -> 'operation' -> 'result_context' ? 'system_prompt'
     order by a.seq desc limit 1)
  ) c (seq, prompt, source)
  order by c.seq desc limit 1;
end $$;
