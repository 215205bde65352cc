-- Whether every large text that an entry quotes is present and unchanged.
create or replace function lanefold._contents_whole(p_thread_id text, p_entry lanefold._entry)
returns boolean language plpgsql stable as $$
begin
  return not exists (
    with quoted as materialized (select distinct q as id from lanefold._quoted(p_entry.kind, p_entry.payload, p_entry.refs) q)
    select from quoted x where not lanefold._content_whole(p_thread_id, x.id));
end $$;

-- The ids of the large texts that an entry quotes: a message in its refs, an operation in the context it sets. Entries of other
-- kinds quote none, because their contents are the caller's.
create or replace function lanefold._quoted(p_kind text, p_payload jsonb, p_refs jsonb)
returns setof text language sql immutable as $$
  select x ->> 'id' from jsonb_path_query(p_refs, '$.contents[*]') x where p_kind = 'ai_message'
  union all
  select x ->> 'id' from jsonb_path_query(p_payload, '$.operation.result_context.entries[*].refs.contents[*]') x
  where p_kind = 'ai_context_operation'
$$;

-- Whether a thread has a large text unchanged: its id is its hash.
create or replace function lanefold._content_whole(p_thread_id text, p_id text)
returns boolean language plpgsql stable as $$
declare
  v_text constant text := lanefold._content_text(p_thread_id, p_id);
begin
  return v_text is not null and p_id = 'c_' || left(encode(sha256(convert_to(v_text, 'UTF8')), 'hex'), 32);
end $$;
