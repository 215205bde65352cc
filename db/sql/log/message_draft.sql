-- Converts a message as callers write it {role, content, tool_calls?, …, refs?} to a draft for _insert_entries: nulls
-- and an empty tool_calls become absent, a null content becomes "".
create or replace function lanefold._message_draft(m jsonb)
returns jsonb language sql immutable as $$
  select jsonb_build_object('role', m ->> 'role', 'refs', m -> 'refs', 'payload',
    jsonb_build_object('content', coalesce(nullif(m -> 'content', 'null'), '""')) || coalesce((
      select json_object_agg(key, value)::jsonb from jsonb_each(m)
      where key in ('tool_calls', 'tool_call_id', 'name', 'thinking', 'reasoning_details', 'provider_metadata')
        and value <> 'null' and not (key = 'tool_calls' and value = '[]')), '{}'));
$$;
