-- The messages of a lane that a compaction must keep: tool messages marked durable in their refs (skills the model has
-- loaded) and, from each group, the assistant message reduced to the calls they answer. In order, as messages of a
-- result_context. A reduced message loses its reasoning, because the provider signed the whole turn.
create or replace function lanefold._durable_messages(p_thread_id text, p_context_ref text, p_upto bigint)
returns jsonb language plpgsql stable as $$
declare
  v_messages jsonb;
begin
  with message as (
    select c.*, count(*) filter (where role <> 'tool') over (order by ordinal) as turn
    from lanefold.lane_context_at(p_thread_id, p_context_ref, p_upto) c
  ), result as (
    -- results answer the calls of their turn by position
    select m.*, row_number() over (partition by turn order by ordinal) - 1 as call_index from message m where role = 'tool'
  ), kept as (
    select * from result where refs @> '{"durable": true, "kind": "skill_activation"}'
  ), turn as (
    select a.*, (select to_jsonb(array_agg(a.tool_calls -> k.call_index::int order by k.ordinal)) from kept k where k.turn = a.turn) as kept_calls
    from message a where a.role = 'assistant' and a.turn in (select turn from kept)
  )
  select to_jsonb(array_agg(x.m order by x.ordinal)) into v_messages from (
    select ordinal, jsonb_build_object('role', role, 'content', content, 'tool_calls', kept_calls, 'run_id', run_id,
        'request_id', request_id, 'refs', refs)
      || case when kept_calls = tool_calls
           then jsonb_build_object('thinking', thinking, 'reasoning_details', reasoning_details, 'provider_metadata', provider_metadata)
           else '{}' end as m
    from turn
    union all
    select ordinal, jsonb_build_object('role', role, 'content', content, 'tool_call_id', tool_call_id, 'name', name, 'run_id', run_id,
      'request_id', request_id, 'refs', refs) from kept
  ) x;
  return coalesce(v_messages, '[]');
end $$;
