-- What a provider accepts in place of these messages: `Acceptable` of src/agent/models/sending, in SQL, so that the log can
-- prove a call that was sent other messages than it has. p_messages: [{role, content, tool_calls?, tool_call_id?,
-- name?, …}]; p_dialect: `sent_as.for` in the refs of the answer. Ids and names of calls that the provider refuses, and
-- ids that were used before and may not be used again, are replaced; answers without text and calls are left
-- out; results and user messages without text get one; a conversation that does not begin with the user gets a first message,
-- with `seq` -1. Takes time in proportion to the messages.
create or replace function lanefold._acceptable(p_messages jsonb, p_dialect text)
returns jsonb language plpgsql stable as $$
declare
  v_user_first constant boolean := p_dialect in ('mistral', 'anthropic', 'google');
  v_sent jsonb[] := array[]::jsonb[];  -- grows in place; a jsonb would be copied for each message
  v_ids text[];        -- of all calls, in their order: as they were written …
  v_names text[];
  v_answers bigint[];
  v_sent_ids text[];   -- … and as they are sent
  v_answered bigint[]; -- for each result, the place of its call in these arrays
  v_call bigint := 0::bigint;
  v_result bigint := 0::bigint;
  v_begun boolean := false;
  v_message jsonb;
  v_calls jsonb[];
begin
  select coalesce(array_agg(c ->> 'id' order by x.n, k), '{}'), array_agg(c ->> 'name' order by x.n, k),
         coalesce(array_agg(x.answer order by x.n, k), '{}')
  into v_ids, v_names, v_answers
  from (select m, n, count(*) filter (where m ->> 'role' = 'assistant') over (order by n) as answer
        from jsonb_array_elements(p_messages) with ordinality as y (m, n)) x
  cross join lateral jsonb_array_elements(case when x.m ->> 'role' = 'assistant' and jsonb_typeof(x.m -> 'tool_calls') = 'array'
    then x.m -> 'tool_calls' end) with ordinality as z (c, k);
  v_sent_ids := lanefold._acceptable_ids(v_ids, v_answers, p_dialect);
  v_answered := lanefold._answered_calls(p_messages, v_ids, v_answers);
  for v_message in select value from jsonb_array_elements(p_messages) loop
    if v_message ->> 'role' = 'assistant' then
      if jsonb_typeof(v_message -> 'tool_calls') is distinct from 'array' then
        continue when lanefold._says_nothing(v_message -> 'content');
      else
        v_calls := array(
          select c || jsonb_build_object('id', v_sent_ids[v_call + k], 'name', lanefold._acceptable_name(c ->> 'name', p_dialect))
          from jsonb_array_elements(v_message -> 'tool_calls') with ordinality as x (c, k) order by k);
        v_call := v_call + cardinality(v_calls);
        v_message := v_message || jsonb_build_object('tool_calls', to_jsonb(v_calls));
      end if;
    elsif v_message ->> 'role' = 'tool' then
      v_result := v_result + 1;
      if v_answered[v_result] is not null then
        v_message := v_message || jsonb_build_object('tool_call_id', v_sent_ids[v_answered[v_result]])
          || case when v_message ->> 'name' = v_names[v_answered[v_result]]
               then jsonb_build_object('name', lanefold._acceptable_name(v_message ->> 'name', p_dialect)) else '{}' end;
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

-- The ids that calls are sent with. p_answers: the number of the answer that makes each call. What was sent is looked up by
-- hash, under a seed that callers do not know: in one jsonb, each id would cost a copy of all before it.
create or replace function lanefold._acceptable_ids(p_ids text[], p_answers bigint[], p_dialect text)
returns text[] language plpgsql stable as $$
declare
  v_accepted constant text := case p_dialect when 'mistral' then '^[A-Za-z0-9]{9}$' when 'kimi' then '^[A-Za-z0-9_.:-]{1,64}$'
    else '^[A-Za-z0-9_-]{1,40}$' end;
  v_prefix constant text := case p_dialect when 'mistral' then '' else 'call_' end;
  v_length constant int := case p_dialect when 'mistral' then 9 else 29 end;
  v_once constant boolean := p_dialect not in ('openai', 'kimi');
  v_buckets constant int := cardinality(p_ids) / 4 + 1;
  v_seed constant bigint := (random() * 9007199254740991)::bigint;
  v_taken jsonb[] := array_fill('{}'::jsonb, array[v_buckets]);     -- the last answer that an id was sent in
  v_replaced jsonb[] := array_fill('{}'::jsonb, array[v_buckets]);  -- how often an id was replaced
  v_sent text[] := array[]::text[];
  v_written text;
  v_id text;
  v_of_written int;
  v_bucket int;
  v_n int;
begin
  for i in 1 .. cardinality(p_ids) loop
    v_written := p_ids[i];
    v_id := v_written;
    v_of_written := 1 + abs(hashtextextended(v_written, v_seed) % v_buckets)::int;
    v_bucket := v_of_written;
    v_n := coalesce((v_replaced[v_of_written] ->> v_written)::int, 0);
    while v_id collate "C" !~ v_accepted
      or case when v_once then v_taken[v_bucket] ? v_id else (v_taken[v_bucket] ->> v_id)::bigint is not distinct from p_answers[i] end loop
      v_id := left(v_prefix || encode(sha256(convert_to(v_written || E'\n' || v_n, 'UTF8')), 'hex'), v_length);
      v_bucket := 1 + abs(hashtextextended(v_id, v_seed) % v_buckets)::int;
      v_n := v_n + 1;
    end loop;
    if v_id <> v_written then
      v_replaced[v_of_written] := v_replaced[v_of_written] || jsonb_build_object(v_written, v_n);
    end if;
    v_taken[v_bucket] := v_taken[v_bucket] || jsonb_build_object(v_id, p_answers[i]);
    v_sent := array_append(v_sent, v_id);
  end loop;
  return v_sent;
end $$;

-- For each result among the messages, in order, the place of the call that it answers, or null: of the calls of the last
-- answer that share its id, the first one without a result.
create or replace function lanefold._answered_calls(p_messages jsonb, p_ids text[], p_answers bigint[])
returns bigint[] language sql immutable as $$
  with part as (
    select false as is_result, c.place, c.answer, c.id from unnest(p_ids, p_answers) with ordinality as c (id, answer, place)
    union all
    select true, x.place, x.answer, x.id
    from (select n as place, m ->> 'role' as role, coalesce(m ->> 'tool_call_id', '') as id,
                 count(*) filter (where m ->> 'role' = 'assistant') over (order by n) as answer
          from jsonb_array_elements(p_messages) with ordinality as y (m, n)) x
    where x.role = 'tool'
  ), numbered as (
    select p.*, row_number() over (partition by p.is_result, p.answer, p.id order by p.place) as number from part p
  ), paired as (
    select n.is_result, n.place, min(n.place) filter (where not n.is_result) over (partition by n.answer, n.id, n.number) as call
    from numbered n
  )
  select array_agg(p.call order by p.place) from paired p where p.is_result
$$;

-- A name that every provider accepts, for a call of a tool whose name the provider refuses.
create or replace function lanefold._acceptable_name(p_name text, p_dialect text)
returns text language sql immutable as $$
  select case
    when p_name collate "C" ~ case p_dialect when 'google' then '^[A-Za-z_][A-Za-z0-9_-]{0,63}$' else '^[A-Za-z0-9_-]{1,64}$' end then p_name
    else (select case when x.slug ~ '^[A-Za-z_]' then '' else '_' end || x.slug || '_' || left(encode(sha256(convert_to(p_name, 'UTF8')), 'hex'), 6)
          from (select left(regexp_replace(p_name collate "C", '[^A-Za-z0-9_-]+', '_', 'g'), 50) collate "C" as slug) x) end
$$;

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
