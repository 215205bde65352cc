-- The messages with an error result, flagged in `refs`, for every call that they leave unanswered.
create or replace function lanefold._repair_messages(p_messages jsonb)
returns jsonb language plpgsql immutable as $$
declare
  m jsonb;
  v_out jsonb := '[]'::jsonb;
  v_open jsonb := '[]'::jsonb;
  v_missing constant text :=
    '{"ok":false,"error":{"type":"missing_result","message":"The result of this tool call was never recorded.","retryable":false}}';
begin
  for m in select value from jsonb_array_elements(p_messages || '[{"role": "end"}]') loop
    while jsonb_array_length(v_open) > 0
      and not (m ->> 'role' = 'tool' and v_open -> 0 ->> 'id' = m ->> 'tool_call_id') loop
      v_out := v_out || jsonb_build_array(jsonb_build_object('role', 'tool', 'tool_call_id', v_open -> 0 ->> 'id',
        'name', v_open -> 0 ->> 'name', 'content', v_missing, 'refs', '{"kind": "repaired"}'::jsonb));
      v_open := v_open - 0;
    end loop;
    exit when m ->> 'role' = 'end';
    if m ->> 'role' = 'tool' then
      v_open := v_open - 0;
    elsif jsonb_typeof(m -> 'tool_calls') = 'array' then
      v_open := m -> 'tool_calls';
    end if;
    v_out := v_out || jsonb_build_array(m);
  end loop;
  return v_out;
end $$;
