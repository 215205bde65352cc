-- Logs the prompt of the agent's definition before the first message of its run, if it differs from the prompt of the
-- lane. It applies to a lane without a prompt and replaces a prompt that another agent's definition set. A prompt set
-- for the thread or by an anchor stays. p: {prompt?}, absent if the worker does not know the agent. The caller holds
-- the lock of the thread and moves rev. Returns the prompt the lane has now, and how many entries were written: 0 or
-- 1.
create or replace function lanefold._adopt_agent_prompt(
  p_thread_id text, p_context_ref text, p_seq bigint, p_at timestamptz, p_agent text, p jsonb,
  out seq bigint, out prompt text, out written int
) language plpgsql as $$
declare
  v_source text;
begin
  written := 0;
  -- an empty thread has no prompt
  if p_seq > 0 then
    select l.seq, l.prompt, l.source into seq, prompt, v_source from lanefold._lane_prompt(p_thread_id, p_context_ref, p_seq - 1) l;
  end if;
  if (seq is null and p ->> 'prompt' is not null)
     or (v_source = 'agent' and p ? 'prompt' and prompt is distinct from p ->> 'prompt') then
    perform lanefold._insert_entries(p_thread_id, p_seq, p_at, jsonb_build_array(lanefold._agent_prompt_draft(p_agent, p)), p_context_ref);
    seq := p_seq;
    prompt := p ->> 'prompt';
    written := 1;
  end if;
end $$;

-- The draft of the entry that sets the prompt of an agent's definition. PostgreSQL inlines the function.
create or replace function lanefold._agent_prompt_draft(p_agent text, p jsonb)
returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object('kind', 'ai_config_change', 'payload', jsonb_build_object('field', 'system_prompt', 'value', p -> 'prompt'),
    'refs', jsonb_build_object('source', 'agent', 'agent', p_agent));
$$;
