-- The result of lane_context_at for the head of every lane, as SQL over tables: readers of the view need no right on
-- functions, and a condition on thread_id and context_ref reaches the indexes. Each part reads a table of its own
-- thread, and ordinals are counted by thread and lane, so that a sharded database can answer on the node of the
-- thread.
create or replace view lanefold.lane_context as
select m.thread_id, m.context_ref, m.anchor_seq,
       row_number() over (partition by m.thread_id, m.context_ref order by m.part, m.pos) - 1 as ordinal, m.seq, m.role,
       coalesce(nullif(m.m -> 'content', 'null'), '""') as content, nullif(nullif(m.m -> 'tool_calls', 'null'), '[]') as tool_calls,
       m.m ->> 'tool_call_id' as tool_call_id, m.m ->> 'name' as name, m.m ->> 'thinking' as thinking,
       nullif(m.m -> 'reasoning_details', 'null') as reasoning_details,
       nullif(m.m -> 'provider_metadata', 'null') as provider_metadata,
       m.run_id, m.request_id, nullif(nullif(m.refs, 'null'), '{}') as refs, m.tenant_id
from (
  select l.thread_id, l.context_ref, coalesce(anchor.seq, -1) as anchor_seq, 0 as part, 0::bigint as pos, prompt.seq,
         'system' as role, jsonb_build_object('content', prompt.prompt) as m,
         null::text as run_id, null::text as request_id, null::jsonb as refs, l.tenant_id
  from lanefold._lane l
  left join lateral (
    select e.seq from lanefold._entry e
    where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    order by e.seq desc limit 1
  ) anchor on true
  cross join lateral (
    -- as in _lane_prompt
    select p.seq, case when p.is_anchor then p.payload -> 'operation' -> 'result_context' ->> 'system_prompt'
             else p.payload ->> 'value' end as prompt
    from (
      (select e.thread_id, e.seq, e.is_anchor, e.payload from lanefold._entry e
       where e.thread_id = l.thread_id and e.context_ref = l.context_ref
         and (e.kind = 'ai_config_change' and e.payload ->> 'field' = 'system_prompt'
           or e.is_anchor and e.payload -> 'operation' -> 'result_context' ? 'system_prompt')
       order by e.seq desc limit 1)
      union all
      (select e.thread_id, e.seq, e.is_anchor, e.payload from lanefold._entry e
       where e.thread_id = l.thread_id and e.context_ref is null
         and (e.kind = 'ai_config_change' and e.payload ->> 'field' = 'system_prompt'
           or e.is_anchor and e.payload -> 'operation' -> 'result_context' ? 'system_prompt')
       order by e.seq desc limit 1)
    ) p
    order by p.seq desc limit 1
  ) prompt
  where prompt.prompt is not null
  union all
  select l.thread_id, l.context_ref, anchor.seq, 1, x.n, anchor.seq, x.m ->> 'role', x.m,
         x.m ->> 'run_id', x.m ->> 'request_id', x.m -> 'refs', l.tenant_id
  from lanefold._lane l
  cross join lateral (
    select e.seq, e.payload -> 'operation' -> 'result_context' -> 'entries' as entries
    from lanefold._entry e
    where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    order by e.seq desc limit 1
  ) anchor
  cross join lateral jsonb_array_elements(anchor.entries) with ordinality as x (m, n)
  union all
  select l.thread_id, l.context_ref, coalesce(anchor.seq, -1), 2, e.seq, e.seq, e.role, e.payload,
         e.run_id, coalesce(e.request_id, e.run_id), e.refs, l.tenant_id
  from lanefold._lane l
  left join lateral (
    select e.seq from lanefold._entry e
    where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    order by e.seq desc limit 1
  ) anchor on true
  join lanefold._entry e on e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message'
    and e.seq > case when anchor.seq is null then -1 else anchor.seq end
) m;
