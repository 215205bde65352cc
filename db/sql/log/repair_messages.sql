-- Adds an error result, flagged in `refs`, for every call without an answer. The messages must be accepted by
-- _messages_problem with p_repair.
create or replace function lanefold._repair_messages(p_messages jsonb)
returns jsonb language plpgsql immutable as $$
declare
  m jsonb;
  v_out jsonb[] := array[]::jsonb[];  -- grows in place; a jsonb would be copied for each message
  v_calls jsonb[] := array[]::jsonb[];
  v_next int := 1;                    -- the first of v_calls without an answer
  v_missing constant text :=
    '{"ok":false,"error":{"type":"missing_result","message":"The result of this tool call was never recorded.","retryable":false}}';
begin
  for m in select value from jsonb_array_elements(p_messages || '[{"role": "end"}]') loop
    while v_next <= cardinality(v_calls)
      and not (m ->> 'role' = 'tool' and v_calls[v_next] ->> 'id' = m ->> 'tool_call_id') loop
      v_out := array_append(v_out, jsonb_build_object('role', 'tool', 'tool_call_id', v_calls[v_next] ->> 'id',
        'name', v_calls[v_next] ->> 'name', 'content', v_missing, 'refs', '{"kind": "repaired"}'::jsonb));
      v_next := v_next + 1;
    end loop;
    exit when m ->> 'role' = 'end';
    if m ->> 'role' = 'tool' then
      v_next := v_next + 1;
    elsif jsonb_typeof(m -> 'tool_calls') = 'array' then
      v_next := 1;
      v_calls := array(select c from jsonb_array_elements(m -> 'tool_calls') with ordinality as x (c, n) order by n);
    end if;
    v_out := array_append(v_out, m);
  end loop;
  return to_jsonb(v_out);
end $$;
