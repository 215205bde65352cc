-- What a provider accepts in place of these messages: `Acceptable` of src/models/sending, in SQL, so that the log can
-- prove a call that was sent other messages than it has. p_messages: [{role, content, tool_calls?, tool_call_id?,
-- name?, …}]; p_dialect: `sent_as.for` in the refs of the answer. Ids and names of calls that the provider refuses, and
-- ids that were used before and may not be used again, are replaced; answers without text and calls are left
-- out; results and user messages without text get one; a conversation that does not begin with the user gets a first message,
-- with `seq` -1.
create or replace function lanefold._acceptable(p_messages jsonb, p_dialect text)
returns jsonb language plpgsql stable as $$
declare
  v_ids constant text := case p_dialect when 'mistral' then '^[A-Za-z0-9]{9}$' when 'kimi' then '^[A-Za-z0-9_.:-]{1,64}$'
    else '^[A-Za-z0-9_-]{1,40}$' end;
  v_prefix constant text := case p_dialect when 'mistral' then '' else 'call_' end;
  v_length constant int := case p_dialect when 'mistral' then 9 else 29 end;
  v_names constant text := case p_dialect when 'google' then '^[A-Za-z_][A-Za-z0-9_-]{0,63}$' else '^[A-Za-z0-9_-]{1,64}$' end;
  v_once constant boolean := p_dialect not in ('openai', 'kimi');
  v_user_first constant boolean := p_dialect in ('mistral', 'anthropic', 'google');
  v_sent jsonb[] := array[]::jsonb[];
  v_taken jsonb := jsonb_build_object();     -- the ids sent so far, or in this answer
  v_replaced jsonb := jsonb_build_object();  -- how often each replaced id was replaced
  v_open jsonb := jsonb_build_array();       -- the calls without a result: [{id, name, sent_id, sent_name}]
  v_begun boolean := false;
  v_message jsonb;
  v_call jsonb;
  v_calls jsonb;
  v_id text;
  v_name text;
  v_n int;
begin
  for v_message in select value from jsonb_array_elements(p_messages) loop
    if v_message ->> 'role' = 'assistant' then
      v_open := '[]';
      v_calls := '[]';
      if jsonb_typeof(v_message -> 'tool_calls') is distinct from 'array' then
        continue when lanefold._says_nothing(v_message -> 'content');
      else
        if not v_once then
          v_taken := '{}';
        end if;
        for v_call in select value from jsonb_array_elements(v_message -> 'tool_calls') loop
          v_id := v_call ->> 'id';
          v_n := coalesce((v_replaced ->> v_id)::int, 0);
          while v_id collate "C" !~ v_ids or v_taken ? v_id loop
            v_id := left(v_prefix || encode(sha256(convert_to((v_call ->> 'id') || E'\n' || v_n, 'UTF8')), 'hex'), v_length);
            v_n := v_n + 1;
          end loop;
          if v_id <> v_call ->> 'id' then
            v_replaced := v_replaced || jsonb_build_object(v_call ->> 'id', v_n);
          end if;
          v_taken := v_taken || jsonb_build_object(v_id, true);
          v_name := v_call ->> 'name';
          if v_name collate "C" !~ v_names then
            v_name := left(regexp_replace(v_name collate "C", '[^A-Za-z0-9_-]+', '_', 'g'), 50);
            v_name := case when v_name collate "C" ~ '^[A-Za-z_]' then '' else '_' end || v_name || '_'
              || left(encode(sha256(convert_to(v_call ->> 'name', 'UTF8')), 'hex'), 6);
          end if;
          v_open := v_open || jsonb_build_object('id', v_call -> 'id', 'name', v_call -> 'name', 'sent_id', v_id, 'sent_name', v_name);
          v_calls := v_calls || jsonb_build_array(v_call || jsonb_build_object('id', v_id, 'name', v_name));
        end loop;
        v_message := v_message || jsonb_build_object('tool_calls', v_calls);
      end if;
    elsif v_message ->> 'role' = 'tool' then
      v_call := null;
      select x.n::int, x.c into v_n, v_call from jsonb_array_elements(v_open) with ordinality as x (c, n)
      where x.c ->> 'id' = coalesce(v_message ->> 'tool_call_id', '') order by x.n limit 1;
      if v_call is not null then
        v_open := v_open - (v_n - 1);
        v_message := v_message || jsonb_build_object('tool_call_id', v_call -> 'sent_id')
          || case when v_message -> 'name' = v_call -> 'name' then jsonb_build_object('name', v_call -> 'sent_name') else '{}' end;
      end if;
      if lanefold._says_nothing(v_message -> 'content') then
        v_message := v_message || '{"content": "(no output)"}';
      end if;
    elsif lanefold._says_nothing(v_message -> 'content') then
      continue when v_message ->> 'role' <> 'user';
      v_message := v_message || '{"content": "(no text)"}';
    elsif v_message ->> 'role' = 'system' and v_begun and p_dialect = 'google' then
      v_message := v_message || '{"role": "user"}';
    end if;
    if not v_begun and v_message ->> 'role' <> 'system' then
      v_begun := true;
      if v_user_first and v_message ->> 'role' <> 'user' then
        v_sent := array_append(v_sent, '{"seq": -1, "role": "user", "content": "(The conversation continues.)"}'::jsonb);
      end if;
    end if;
    v_sent := array_append(v_sent, v_message);
  end loop;
  return to_jsonb(v_sent);
end $$;

-- Whether a content has neither a file nor a text of more than white space, as providers see it.
create or replace function lanefold._says_nothing(p_content jsonb)
returns boolean language sql immutable as $$
  with blank as (
    select E' \t\n\u000b\f\r\u001c\u001d\u001e\u001f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff' as signs
  )
  select case jsonb_typeof(p_content)
    when 'string' then btrim(p_content #>> '{}', b.signs) = ''
    when 'array' then not exists (
      select from jsonb_array_elements(p_content) p
      where not coalesce(p ->> 'type' = 'text' and jsonb_typeof(p -> 'text') = 'string' and btrim(p ->> 'text', b.signs) = '', false))
    else coalesce(p_content, 'null') = 'null' end
  from blank b
$$;
