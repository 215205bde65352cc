-- Notable things in some runs of a thread: the only definition of what conversations and lists mark. `seq` is the
-- entry to look at and llm_call_id the model call with more detail; either is null if there is none: a question of a
-- strategy has no entry. The kinds and their data:
--   tool_failed       {tool, status}, tool_retried {tool, attempts}: from the ledger
--   arguments_refused {tool}: the call was not made, because of what the model had written
--   model_retried     {error?, lost?}, worker_lost {worker_id}: at the answer that came in the end
--   cut               the policy left messages out; over_budget: the messages it must keep exceed the budget
--   cache_missed      {cause: fallback, prompt, anchor or policy, seq?}: its model or its prefix differs from the lane's previous call
--   handoffs_looped   {agent, times}: an agent got the run from others more than once
--   model_overridden  {model, instead_of, transformer?}
--   liked, disliked   {by?, comment?}: at an answer, by the last word of each person
--   model_fell_back   {model, instead_of}: another model of the chain answered
--   steered           {kind, by, sent_at, reached_at}, steer_dropped {kind, by, sent_at}
--   prompt_changed    {by?, agent?}, context_replaced, compacted {covered, messages, model}: since the last
--                     answer before the run
--   waiting           {for: run, approval, event, time, agent (the end of a run that a call waits for), limit, start_at or
--                     worker, until?, limit?, key?}, failed {type, message}, abandoned, ended_early {reason, answered}: by a limit
-- Marks derived from events disappear when the trace of the run is dropped.
create or replace function lanefold.run_marks(p_thread_id text, p_run_ids text[])
returns table (run_id text, kind text, seq bigint, llm_call_id text, data jsonb) language plpgsql stable rows 20
-- planning the query takes longer than executing it for ten runs
set plan_cache_mode = force_generic_plan as $$
declare
  m record;
  v_before text;
  v_now text;
  v_seq bigint;
  v_missed text := '';
begin
  return query select l.run_id, l.kind, l.seq, null::text, l.data from lanefold._ledger_marks(p_thread_id, p_run_ids) l;
  for m in
  with events as materialized (
    select v.run_id, v.event_seq, v.kind, v.data from lanefold.run_event v
    where v.thread_id = p_thread_id and v.run_id = any (p_run_ids)
      and v.kind in ('llm_completed', 'llm_retry', 'llm_lost', 'worker_lost', 'compaction_completed', 'handed_over')
  ), answers as materialized (
    select e.run_id, e.event_seq, (e.data ->> 'seq')::bigint as seq, e.data ->> 'model' as model,
           -- a call without an entry cannot be opened
           case when e.data ? 'seq' then e.data ->> 'call_id' end as call_id, e.data ->> 'cut' as cut,
           e.data ? 'over_budget' as over_budget, e.data ? 'fallback' as fell_back, row_number() over (partition by e.run_id order by e.event_seq) as n
    from events e where e.kind = 'llm_completed'
  ), runs as materialized (
    select r.id, r.context_ref, r.user_seq, r.model, before.seq as before_seq, before.model as before_model, before.fell_back as before_fell_back,
           (select max(a.seq) from answers a where a.run_id = r.id) as last_seq
    from lanefold._run r
    left join lateral (
      -- the last answer before the user message of the run, from any run
      select e.seq, e.refs ->> 'model' as model, e.refs ? 'fallback' as fell_back from lanefold._entry e
      where e.thread_id = p_thread_id and e.context_ref = r.context_ref and e.kind = 'ai_message' and e.seq < r.user_seq
        and e.role = 'assistant' and e.refs ? 'llm_call_id'
      order by e.seq desc limit 1
    ) before on true
    where r.thread_id = p_thread_id and r.id = any (p_run_ids)
  ), changes as materialized (
    select r.id as run_id, c.seq, c.is_anchor, c.payload, c.refs, c.run_id as by_run,
           (select min(a.seq) from answers a where a.run_id = r.id and a.seq > c.seq) as answer_seq
    from runs r
    cross join lateral (
      select e.seq, e.is_anchor, e.payload, e.refs, e.run_id from lanefold._entry e
      where e.thread_id = p_thread_id and e.context_ref = r.context_ref and e.kind in ('ai_context_operation', 'ai_config_change')
        and e.seq > r.before_seq and e.seq < r.last_seq
      union all
      select e.seq, e.is_anchor, e.payload, e.refs, e.run_id from lanefold._entry e
      where e.thread_id = p_thread_id and e.context_ref is null and e.kind in ('ai_context_operation', 'ai_config_change')
        and e.seq > r.before_seq and e.seq < r.last_seq
    ) c
    where c.is_anchor or c.payload ->> 'field' = 'system_prompt'
  ), broken as (
    select c.run_id, c.answer_seq as seq, 'anchor' as cause, max(c.seq) as by_seq, null::text as context_ref, null::bigint as before_seq, null::bigint as user_seq
    from changes c where c.is_anchor and c.answer_seq is not null group by c.run_id, c.answer_seq
    union all
    -- if the prompts differ, which the loop finds out: a query on a shard may call no function that queries
    select r.id, a.seq, 'prompt', null, r.context_ref, r.before_seq, r.user_seq
    from (select distinct c.run_id from changes c
          where not c.is_anchor or c.payload -> 'operation' -> 'result_context' ? 'system_prompt') c
    join runs r on r.id = c.run_id
    join answers a on a.run_id = r.id and a.n = 1
    union all
    select a.run_id, a.seq, 'policy', null, null, null, null
    from answers a join runs r on r.id = a.run_id where a.cut in ('moved', 'lifted') and (a.n > 1 or r.before_seq is not null)
    union all
    select a.run_id, a.seq, 'fallback', null, null, null, null
    from (select x.run_id, x.seq, x.n, x.fell_back, coalesce(x.model, r.model) as model, r.before_seq,
                 case when x.n > 1 then coalesce(lag(x.model) over w, r.model) else r.before_model end as earlier,
                 case when x.n > 1 then lag(x.fell_back) over w else r.before_fell_back end as earlier_fell_back
          from answers x join runs r on r.id = x.run_id window w as (partition by x.run_id order by x.event_seq)) a
    where (a.n > 1 or a.before_seq is not null) and (a.fell_back or a.earlier_fell_back) and a.model is distinct from a.earlier
  )
  select x.run_id, x.kind, x.seq, x.call_id, x.data
  from (
  select i.run_id, case i.status when 'dropped' then 'steer_dropped' else 'steered' end as kind, i.entry_seq as seq, next.call_id,
         jsonb_strip_nulls(jsonb_build_object('kind', i.kind, 'by', i.by, 'sent_at', i.created_at,
           'reached_at', case i.status when 'injected' then i.settled_at end)) as data
  from lanefold.pending_input i
  left join lateral (
    select a.call_id from answers a where a.run_id = i.run_id and a.seq > i.entry_seq order by a.seq limit 1
  ) next on true
  where i.thread_id = p_thread_id and i.run_id = any (p_run_ids) and i.status <> 'queued'
  union all
  select e.run_id, case e.kind when 'worker_lost' then e.kind else 'model_retried' end, next.seq, next.call_id,
         case e.kind when 'worker_lost' then jsonb_build_object('worker_id', e.data -> 'worker_id')
           when 'llm_lost' then '{"lost": true}' else jsonb_build_object('error', e.data -> 'error') end
  from events e
  left join lateral (
    select a.seq, a.call_id from answers a where a.run_id = e.run_id and a.event_seq > e.event_seq order by a.event_seq limit 1
  ) next on true
  where e.kind in ('llm_retry', 'llm_lost', 'worker_lost')
    -- another model that answers at once is no retry
    and (e.data ->> 'next_model' is not distinct from e.data ->> 'model' or e.data ->> 'delay_ms' <> '0')
  union all
  select e.run_id, 'compacted', (e.data ->> 'seq')::bigint, null, jsonb_build_object('covered', e.data -> 'covered',
    'messages', e.data -> 'messages', 'model', e.data -> 'model')
  from events e where e.kind = 'compaction_completed' and e.data ? 'seq'
  union all
  select e.run_id, 'handoffs_looped', null, null, jsonb_build_object('agent', e.data -> 'to', 'times', count(*))
  from events e where e.kind = 'handed_over' group by e.run_id, e.data -> 'to' having count(*) > 1
  union all
  select a.run_id, x.kind, a.seq, a.call_id, x.data
  from answers a join runs r on r.id = a.run_id
  cross join lateral (values
    ('cut', a.cut in ('moved', 'kept'), '{}'::jsonb),
    ('over_budget', a.over_budget, '{}'),
    ('model_fell_back', a.fell_back, jsonb_build_object('model', a.model, 'instead_of', r.model)),
    ('model_overridden', a.model <> r.model and not a.fell_back, jsonb_build_object('model', a.model, 'instead_of', r.model, 'transformer', true))
  ) as x (kind, holds, data)
  where x.holds
  union all
  select c.run_id, x.kind, c.seq, null, x.data
  from changes c
  cross join lateral (values
    ('prompt_changed', not c.is_anchor,
      jsonb_strip_nulls(jsonb_build_object('by', c.refs -> 'by', 'agent', c.refs -> 'agent'))),
    -- an anchor that a run wrote is a compaction, which has separate events
    ('context_replaced', c.is_anchor and c.by_run is null, jsonb_build_object('reason', c.payload -> 'operation' -> 'reason'))
  ) as x (kind, holds, data)
  where x.holds
  union all
  select b.run_id, 'cache_missed', b.seq, a.call_id,
         jsonb_strip_nulls(jsonb_build_object('cause', b.cause, 'seq', b.by_seq, 'lane', b.context_ref, 'before', b.before_seq, 'user', b.user_seq))
  from broken b join answers a on a.run_id = b.run_id and a.seq = b.seq
  ) x
  order by x.run_id, x.seq, array_position(array['fallback', 'prompt', 'anchor', 'policy'], x.data ->> 'cause')
  loop
    if m.kind = 'cache_missed' then
      -- one for each call: the cause that comes first in its messages
      continue when v_missed = m.run_id || ' ' || m.seq;
      if m.data ->> 'cause' = 'prompt' then
        v_before := (select l.prompt from lanefold._lane_prompt(p_thread_id, m.data ->> 'lane', (m.data -> 'before')::bigint - 1) l);
        select l.seq, l.prompt into v_seq, v_now from lanefold._lane_prompt(p_thread_id, m.data ->> 'lane', (m.data -> 'user')::bigint - 1) l;
        continue when v_now is not distinct from v_before;
        m.data := jsonb_strip_nulls(jsonb_build_object('cause', 'prompt', 'seq', v_seq));
      end if;
      v_missed := m.run_id || ' ' || m.seq;
    end if;
    run_id := m.run_id;
    kind := m.kind;
    seq := m.seq;
    llm_call_id := m.call_id;
    data := m.data;
    return next;
  end loop;
end $$;

-- Whether a run was asked for with another model than that of its agent. A handover changes the options, and keeps what was asked.
create or replace function lanefold._overrides_model(p_options jsonb)
returns boolean language sql immutable parallel safe as $$
  select coalesce(coalesce(p_options #> '{asked,options}', p_options) ? 'agent_model', false);
$$;

-- The marks of run_marks that the rows of the runs and of their tool calls tell.
create or replace function lanefold._ledger_marks(p_thread_id text, p_run_ids text[])
returns table (run_id text, kind text, seq bigint, data jsonb) language plpgsql stable rows 10 as $$
begin
  return query
  select r.id::text, x.kind, x.seq, x.data
  from lanefold._run r
  cross join lateral (values
    ('model_overridden', r.user_seq, lanefold._overrides_model(r.options),
      case when r.options ? 'asked'
        then jsonb_build_object('model', r.options #> '{asked,model}', 'instead_of', r.options #> '{asked,options,agent_model}')
        else jsonb_build_object('model', r.model, 'instead_of', r.options -> 'agent_model') end),
    ('waiting', null::bigint, r.status in ('waiting', 'suspended') or r.status = 'queued'
        and (r.limited_by is not null or r.agent_unknown_since is not null or r.started_at is null and r.start_at > lanefold._now()),
      jsonb_strip_nulls(jsonb_build_object('for', case when r.status = 'waiting' then 'run' when r.status = 'suspended'
          then (select replace(w.kind, 'run', 'agent') from lanefold._wait w where w.thread_id = p_thread_id and w.run_id = r.id and w.status = 'open' order by w.kind limit 1)
        when r.limited_by is not null then 'limit' when r.agent_unknown_since is not null then 'worker' else 'start_at' end,
        'until', case when r.status = 'suspended' then to_jsonb(nullif(r.suspended_until, 'infinity'))
          when r.limited_by is not null then r.limited_by -> 'until'
          when r.status = 'queued' and r.agent_unknown_since is null then to_jsonb(r.start_at) end,
        'limit', r.limited_by -> 'limit', 'key', r.limited_by -> 'key'))),
    ('ended_early', null, r.status = 'completed' and lanefold._is_limit(r.termination_reason),
      jsonb_build_object('reason', r.termination_reason, 'answered', r.answered)),
    ('abandoned', null, r.status = 'cancelled' and r.cancel_reason = 'abandoned', '{}'),
    ('failed', null, r.status = 'failed', jsonb_build_object('type', r.error -> 'type', 'message', r.error -> 'message'))
  ) as x (kind, seq, holds, data)
  where r.thread_id = p_thread_id and r.id = any (p_run_ids) and x.holds;
  return query
  select c.run_id::text, x.kind, coalesce(c.result_seq, c.call_seq), x.data
  from lanefold._tool_call c
  cross join lateral (values
    ('arguments_refused', c.status = 'error' and c.attempts = 0, jsonb_build_object('tool', c.name)),
    ('tool_failed', c.status in ('error', 'unknown', 'abandoned') and (c.status <> 'error' or c.attempts > 0),
      jsonb_build_object('tool', c.name, 'status', c.status)),
    ('tool_retried', c.attempts > 1, jsonb_build_object('tool', c.name, 'attempts', c.attempts))
  ) as x (kind, holds, data)
  where c.thread_id = p_thread_id and c.run_id = any (p_run_ids) and x.holds;
  return query
  select f.p ->> 'run_id', case f.p ->> 'rating' when 'up' then 'liked' else 'disliked' end, (f.p -> 'answer_seq')::bigint,
         jsonb_strip_nulls(jsonb_build_object('by', f.p -> 'by', 'comment', f.p -> 'comment'))
  from (
    select distinct on (e.payload -> 'answer_seq', e.payload -> 'by') e.payload as p from lanefold._entry e
    where e.thread_id = p_thread_id and e.kind = 'feedback' and e.payload ->> 'run_id' = any (p_run_ids)
    order by e.payload -> 'answer_seq', e.payload -> 'by', e.seq desc) f
  where f.p ? 'rating';
end $$;
