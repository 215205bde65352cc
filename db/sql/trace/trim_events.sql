-- The events of a commit that still fit into the trace of their run: the first p_room of them, then those needed to
-- follow the course of the run. If events are left out, the run's trace_truncated is set; they take no seq.
create or replace function lanefold._trim_events(p_thread_id text, p_run_id text, p_events jsonb, p_room int)
returns jsonb language plpgsql as $$
declare
  v_kept jsonb;
begin
  select coalesce(to_jsonb(array_agg(e order by n)), '[]') into v_kept
  from jsonb_array_elements(p_events) with ordinality as x (e, n)
  where n <= p_room or e ->> 'k' not in ('llm_started', 'llm_delta', 'tool_started', 'keepalive', 'output_started');
  if jsonb_array_length(v_kept) < jsonb_array_length(p_events) then
    update lanefold._run set trace_truncated = true where thread_id = p_thread_id and id = p_run_id and not trace_truncated;
  end if;
  return v_kept;
end $$;
