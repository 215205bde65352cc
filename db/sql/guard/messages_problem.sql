-- Why a list of well-formed messages may not enter a lane, or null. Each assistant message with calls must be followed
-- by one tool message per call, in call order, before any other message. With p_repair, missing tool messages are
-- allowed here and added by _repair_messages. Both functions take linear time: each call is checked once, and arrays
-- are read in place.
create or replace function lanefold._messages_problem(p_messages jsonb, p_repair boolean default false)
returns text language plpgsql immutable as $$
declare
  m jsonb;
  i int := -1;
  v_calls text[] := array[]::text[];  -- ids of the last assistant message with calls, in call order
  v_next int := 1;                     -- the first of them without an answer
  v_id text;
begin
  for m in select value from jsonb_array_elements(p_messages) loop
    i := i + 1;
    if m ->> 'role' = 'tool' then
      v_id := m ->> 'tool_call_id';
      while p_repair and v_next <= cardinality(v_calls) and v_calls[v_next] is distinct from v_id loop
        v_next := v_next + 1;
      end loop;
      if v_next > cardinality(v_calls) or v_calls[v_next] is distinct from v_id then
        return format('message %s answers the tool call %s, which is not the next one open', i, coalesce(v_id, '(none)'));
      end if;
      v_next := v_next + 1;
    else
      if v_next <= cardinality(v_calls) and not p_repair then
        return format('message %s comes before the tool call %s is answered', i, v_calls[v_next]);
      end if;
      v_next := 1;
      v_calls := array[]::text[];
      if m ->> 'role' = 'assistant' and jsonb_typeof(m -> 'tool_calls') = 'array' then
        v_calls := array(select c ->> 'id' from jsonb_array_elements(m -> 'tool_calls') with ordinality as x (c, n) order by n);
      end if;
    end if;
  end loop;
  if v_next <= cardinality(v_calls) and not p_repair then
    return format('the tool call %s is never answered', v_calls[v_next]);
  end if;
  return null;
end $$;
