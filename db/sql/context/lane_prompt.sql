-- The system prompt of a lane as of p_upto: the latest, by seq, among the prompt changes that apply to the lane and
-- the prompts of its anchors. An anchor without the key inherits the prompt, also one that an earlier anchor set. No
-- row: no prompt was set. `source` is `agent` if a claim wrote the prompt of an agent's definition, which the next
-- agent may replace.
-- The index _entry_prompt holds exactly the entries that set a prompt: both conditions must stay as they are in its
-- definition.
create or replace function lanefold._lane_prompt(p_thread_id text, p_context_ref text, p_upto bigint)
returns table (seq bigint, prompt text, source text) language plpgsql stable rows 1 as $$
begin
  return query
  select c.seq, case when c.is_anchor then c.payload -> 'operation' -> 'result_context' ->> 'system_prompt' else c.payload ->> 'value' end,
         case when c.is_anchor then 'anchor' else c.refs ->> 'source' end
  from (
    (select e.seq, e.is_anchor, e.payload, e.refs from lanefold._entry e
     where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.seq <= p_upto
       and (e.kind = 'ai_config_change' and e.payload ->> 'field' = 'system_prompt'
         or e.is_anchor and e.payload -> 'operation' -> 'result_context' ? 'system_prompt')
     order by e.seq desc limit 1)
    union all
    (select e.seq, e.is_anchor, e.payload, e.refs from lanefold._entry e
     where e.thread_id = p_thread_id and e.context_ref is null and e.seq <= p_upto
       and (e.kind = 'ai_config_change' and e.payload ->> 'field' = 'system_prompt'
         or e.is_anchor and e.payload -> 'operation' -> 'result_context' ? 'system_prompt')
     order by e.seq desc limit 1)
  ) c
  order by c.seq desc limit 1;
end $$;
