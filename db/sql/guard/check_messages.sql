-- Raises LF014 for malformed messages; p_what names the list in the error. _messages_problem checks whether their tool
-- groups are closed.
create or replace function lanefold._check_messages(p_messages jsonb, p_what text)
returns void language plpgsql immutable as $$
declare
  m jsonb;
  i int := -1;
  v_calls jsonb;
  v_problem text;
begin
  for m in select value from jsonb_array_elements(p_messages) loop
    i := i + 1;
    v_calls := coalesce(nullif(m -> 'tool_calls', 'null'), '[]');
    v_problem := case
      when jsonb_typeof(m) is distinct from 'object' or coalesce(m ->> 'role', '') not in ('user', 'assistant', 'tool') then
        'does not have the role user, assistant or tool'
      when jsonb_typeof(coalesce(m -> 'content', 'null')) not in ('string', 'array', 'null') then
        'has content that is neither a string nor a list of parts'
      when jsonb_typeof(v_calls) <> 'array' then
        'has tool_calls that are not a list'
      when m ->> 'role' <> 'assistant' and jsonb_array_length(v_calls) > 0 then
        'has tool_calls but is not an assistant message'
      when exists (select from jsonb_array_elements(v_calls) c
                   where jsonb_typeof(c -> 'id') is distinct from 'string' or jsonb_typeof(c -> 'name') is distinct from 'string'
                      or c ->> 'id' = '') then -- models have called tools without a name
        'has a tool call whose id is not a non-empty string, or whose name is not a string'
      when lanefold._small_json_problem(m -> 'refs', 'refs') is not null then
        'has ' || lanefold._small_json_problem(m -> 'refs', 'refs')
      when lanefold._content_problem(m - 'refs') is not null then
        'has ' || lanefold._content_problem(m - 'refs')
      else (select format('has a %s that is not a string', k)
            from unnest(array['tool_call_id', 'name', 'thinking', 'run_id', 'request_id']) k
            where jsonb_typeof(coalesce(m -> k, 'null')) not in ('string', 'null') limit 1)
    end;
    if v_problem is not null then
      perform lanefold._fail('LF014', format('Message %s of %s %s.', i, p_what, v_problem),
        'Nothing was written. Correct the message and send it again.');
    end if;
  end loop;
end $$;
