-- {seq} of the first of the entries that a run's last step wrote, {} without any: finds those of a step whose
-- acknowledgement was lost. p_entries are its drafts, on the lane p_context_ref unless they name another one; p_inputs
-- is how many inputs followed them there. Nothing was written to the lanes of the run since, so its entries are counted
-- from the end of the lane that the first message is on.
create or replace function lanefold._first_seq(p_thread_id text, p_context_ref text, p_entries jsonb, p_inputs int)
returns jsonb language plpgsql stable as $$
declare
  v_place bigint;  -- of the first message among the drafts, from 0
  v_lane text;
  v_count bigint;
  v_seq bigint;
begin
  select x.n - 1, coalesce(x.e ->> 'context_ref', p_context_ref) into v_place, v_lane
  from jsonb_array_elements(p_entries) with ordinality as x (e, n)
  where coalesce(x.e ->> 'kind', 'ai_message') = 'ai_message' order by x.n limit 1;
  if not found then
    return '{}'::jsonb;
  end if;
  select count(*) + case when v_lane = p_context_ref then p_inputs else 0 end into v_count
  from jsonb_array_elements(p_entries) x (e)
  where coalesce(x.e ->> 'kind', 'ai_message') = 'ai_message' and coalesce(x.e ->> 'context_ref', p_context_ref) = v_lane;
  select e.seq - v_place into v_seq from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = v_lane and e.kind = 'ai_message'
  order by e.seq desc offset v_count - 1 limit 1;
  return jsonb_build_object('seq', v_seq);
end $$;
