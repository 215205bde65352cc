-- Whether the log still proves what a model call was sent: compares the SHA-256 of call_context, as canonical JSON,
-- with the `context_hash` of the answer. Null if the log cannot tell: a transformer or a contract altered the
-- messages, no answer has this llm_call_id, or the answer has no hash.
create or replace function lanefold.verify_call(p_thread_id text, p_llm_call_id text)
returns boolean language plpgsql stable as $$
declare
  v_hash text;
  v_text text;
  v_altered text;
begin
  select e.refs ->> 'context_hash' into v_hash from lanefold._entry e
  where e.thread_id = p_thread_id and e.kind = 'ai_message' and e.refs ->> 'llm_call_id' = p_llm_call_id
    and e.run_id = regexp_replace(p_llm_call_id, '\.[^.]*$', '') and e.seq > coalesce((
      select r.user_seq from lanefold._run r
      where r.thread_id = p_thread_id and r.id = regexp_replace(p_llm_call_id, '\.[^.]*$', '')), -1)
  order by e.seq limit 1;
  select string_agg(lanefold._canonical(jsonb_build_object('role', c.role, 'content', c.content)
      || jsonb_strip_nulls(jsonb_build_object('tool_call_id', c.tool_call_id, 'name', c.name, 'thinking', c.thinking))
      || case when c.tool_calls is null then '{}' else jsonb_build_object('tool_calls', c.tool_calls) end
      || case when c.reasoning_details is null then '{}' else jsonb_build_object('reasoning_details', c.reasoning_details) end
      || case when c.provider_metadata is null then '{}' else jsonb_build_object('provider_metadata', c.provider_metadata) end)
      || E'\n', '' order by c.ordinal), max(c.altered)
  into v_text, v_altered
  from lanefold.call_context(p_thread_id, p_llm_call_id) c;
  if v_hash is null or v_text is null or v_altered is not null then
    return null;
  end if;
  return encode(sha256(convert_to(v_text, 'UTF8')), 'hex') = v_hash;
end $$;
