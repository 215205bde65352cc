-- Why a list of well-formed messages may not enter a lane, or null. Each assistant message with calls must be followed by
-- one tool message per call, in call order, before anything else; with p_repair missing ones are tolerated here and added
-- by _repair_messages.
create or replace function lanefold._messages_problem(p_messages jsonb, p_repair boolean default false)
returns text language plpgsql immutable as $$
declare
  m jsonb;
  i int := -1;
  v_open jsonb := '[]'::jsonb;   -- ids still to be answered, in call order
  v_at int;
begin
  for m in select value from jsonb_array_elements(p_messages) loop
    i := i + 1;
    if m ->> 'role' = 'tool' then
      select min(n)::int - 1 into v_at from jsonb_array_elements_text(v_open) with ordinality as o (id, n)
      where o.id = coalesce(m ->> 'tool_call_id', '');
      if v_at is null or (v_at > 0 and not p_repair) then
        return format('message %s answers the tool call %s, which is not the next one open', i,
          coalesce(m ->> 'tool_call_id', '(none)'));
      end if;
      select coalesce(jsonb_agg(id order by n), '[]') into v_open
      from jsonb_array_elements(v_open) with ordinality as o (id, n) where n > v_at + 1;
    else
      if jsonb_array_length(v_open) > 0 and not p_repair then
        return format('message %s comes before the tool call %s is answered', i, v_open ->> 0);
      end if;
      v_open := '[]';
      if m ->> 'role' = 'assistant' and jsonb_typeof(m -> 'tool_calls') = 'array' then
        select coalesce(jsonb_agg(c -> 'id' order by n), '[]') into v_open
        from jsonb_array_elements(m -> 'tool_calls') with ordinality as x (c, n);
      end if;
    end if;
  end loop;
  if jsonb_array_length(v_open) > 0 and not p_repair then
    return format('the tool call %s is never answered', v_open ->> 0);
  end if;
  return null;
end $$;
