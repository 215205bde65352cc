-- The messages that one model call was sent: the context of its lane at that time, cut and changed by the policy of
-- the run. The refs of the answer record how: `dropped`, `kinds`, `summary_role` and `prompt`; for a question of a
-- strategy also `history` (how far the messages of the run's lane preceded it) and `dropped_positions`. If the provider
-- would have refused them, `sent_as` says for which one they were made acceptable (`_acceptable`). `altered` is
-- null if these rows are exactly what was sent, `transformer` if a request transformer changed the messages,
-- `contract` if the instructions of an output contract followed the prompt; the log contains neither. No rows: no
-- answer has this llm_call_id, or the context was empty.
create or replace function lanefold.call_context(p_thread_id text, p_llm_call_id text)
returns table (
  ordinal bigint, seq bigint, role text, content jsonb, tool_calls jsonb, tool_call_id text, name text, thinking text,
  reasoning_details jsonb, provider_metadata jsonb, altered text
) language plpgsql stable rows 100 as $$
declare
  v_run record;
  v_answer record;
  v_altered text;
  v_prompt jsonb;  -- of the policy
begin
  select r.user_seq, r.options, r.context_ref into v_run from lanefold._run r
  where r.thread_id = p_thread_id and r.id = regexp_replace(p_llm_call_id, '\.[^.]*$', '');
  -- a question of a strategy is answered on a separate lane
  select e.seq, e.refs, e.context_ref into v_answer from lanefold._entry e
  where e.thread_id = p_thread_id and e.run_id = regexp_replace(p_llm_call_id, '\.[^.]*$', '') and e.kind = 'ai_message' and e.seq > coalesce(v_run.user_seq, -1)
    and e.refs ->> 'llm_call_id' = p_llm_call_id
  order by e.seq limit 1;
  if not found then
    return;
  end if;
  -- a run that continues its lane has no message, and makes one call
  v_run.user_seq := coalesce(v_run.user_seq, v_answer.seq - 1);
  v_altered := case when v_answer.refs ? 'transformed' then 'transformer' when v_answer.refs ? 'output_hash' then 'contract' end;
  if v_answer.refs ->> 'prompt' = 'policy' then
    v_prompt := v_run.options -> 'context_policy' -> 'system_prompt';
    if v_prompt is null then
      select c.value -> 'system_prompt' into v_prompt
      from lanefold.lane_config_at(p_thread_id, v_run.context_ref, v_run.user_seq) c where c.field = 'policy';
    end if;
  end if;
  return query
  with lanes as (
    select case when c.role = 'system' then 0 else 2 end as part, c.*
    from lanefold.lane_context_at(p_thread_id, v_answer.context_ref, v_answer.seq - 1) c
    union all
    select 1, c.* from lanefold.lane_context_at(p_thread_id, v_run.context_ref, v_run.user_seq - 1) c
    where v_answer.refs ? 'history' and c.role <> 'system'
  ), whole as (
    select c.*, c.role = 'system' as is_prompt, c.refs ->> 'kind' = 'compaction_summary' as is_summary,
           -- position within its entry: an anchor holds several messages
           row_number() over (partition by c.role = 'system', c.seq order by c.part, c.ordinal) - 1 as place,
           row_number() over (order by c.part, c.ordinal) - 1 as position
    from lanes c
  ), kept as (
    select l.position as n, l.seq, l.role, l.content, l.tool_calls, l.tool_call_id, l.name, l.thinking, l.reasoning_details,
           l.provider_metadata, l.is_summary
    from whole l
    where l.is_prompt and v_prompt is null or not l.is_prompt
      and not exists (
        select from jsonb_array_elements(coalesce(v_answer.refs -> 'dropped', '[]')) d
        where l.seq between (d -> 0)::bigint and (d -> 1)::bigint
          and (d -> 2 is null or l.place between (d -> 2)::bigint and (d -> 3)::bigint))
      and not exists (
        select from jsonb_array_elements(coalesce(v_answer.refs -> 'dropped_positions', '[]')) d
        where l.position between (d -> 0)::bigint and (d -> 1)::bigint)
      and (not v_answer.refs ? 'kinds' or v_answer.refs -> 'kinds' ? case when l.is_summary then 'summary'
        when l.role = 'tool' or l.tool_calls is not null then 'tool_call' else 'message' end)
    union all
    select -1, -1, 'system', v_prompt, null, null, null, null, null, null, false where v_prompt is not null
  ), chosen as (
    select k.n, k.seq,
           -- a summary is sent as system only if nothing but the prompt precedes it
           case when k.is_summary and v_answer.refs ->> 'summary_role' = 'system' then 'system' else k.role end as role,
           k.content, k.tool_calls, k.tool_call_id, k.name, k.thinking, k.reasoning_details, k.provider_metadata
    from kept k
  ), sent as (
    select c.* from chosen c where not v_answer.refs ? 'sent_as'
    union all
    select x.n, (x.m ->> 'seq')::bigint, x.m ->> 'role', x.m -> 'content', nullif(x.m -> 'tool_calls', 'null'), x.m ->> 'tool_call_id',
           x.m ->> 'name', x.m ->> 'thinking', nullif(x.m -> 'reasoning_details', 'null'), nullif(x.m -> 'provider_metadata', 'null')
    from jsonb_array_elements((
      select lanefold._acceptable(to_jsonb(array_agg(to_jsonb(c) order by c.n)), v_answer.refs -> 'sent_as' ->> 'for')
      from chosen c where v_answer.refs ? 'sent_as')) with ordinality as x (m, n)
  )
  select row_number() over (order by s.n) - 1, s.seq, s.role, s.content, s.tool_calls, s.tool_call_id, s.name, s.thinking,
         s.reasoning_details, s.provider_metadata, v_altered
  from sent s order by s.n;
end $$;
