-- Whether every large text that an entry quotes is present and unchanged: the id of a text is its hash. A message
-- quotes texts in its refs, an operation in the context it sets. Entries of other kinds are not checked, because their
-- contents are the caller's.
create or replace function lanefold._contents_whole(p_thread_id text, p_entry lanefold._entry)
returns boolean language plpgsql stable as $$
declare
  k record;
  v_text text;
begin
  for k in
    select x ->> 'id' as id from jsonb_path_query(p_entry.refs, '$.contents[*]') x where p_entry.kind = 'ai_message'
    union all
    select x ->> 'id' from jsonb_path_query(p_entry.payload, '$.operation.result_context.entries[*].refs.contents[*]') x
    where p_entry.kind = 'ai_context_operation'
  loop
    v_text := lanefold._content_text(p_thread_id, k.id);
    if v_text is null or k.id <> 'c_' || left(encode(sha256(convert_to(v_text, 'UTF8')), 'hex'), 32) then
      return false;
    end if;
  end loop;
  return true;
end $$;
