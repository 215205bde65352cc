-- Claims a run for a worker. p_enqueue_no must be the run's, and the run queued, or running with an expired lease. The
-- first claim writes the user message, `request_started` and `llm_started`, and first the prompt if the lane has
-- another; a run with options.continues has none: it answers its lane as it is. Later claims write nothing to the log;
-- one that takes over from a lost worker adds `worker_lost` to the
-- trace.
-- p: {worker_id, lease_ms, prompt: null for none, absent if the worker does not know the agent, which leaves the lane
-- its prompt, config_fingerprint, agent_version?: that of the worker, max_claims_without_progress,
-- alone: whether the worker holds no other run and takes none until this one has made progress, loss_cause?: what loss_cause
-- says of the worker that lost the run (`lost` of an earlier answer), strategies: the names of
-- those it knows, tools?: those it has for the agent, ignored_tools?: that the thread names and no worker has for the agent,
-- lease_gap?: a random number by which the lease number rises, so that a claim lost in a failover and the next claim do not
-- share a number, max_context_bytes?}.
-- Returns {claimed: false, status, reason, promoted?: the run that becomes active if this ended one} or
-- {claimed: true, fresh, lease, step, …, context, calls, nodes: the answers its strategy has, elapsed_ms: since it
-- started, waited: a limit had delayed it, unknown_tools: those for which it was moved here, earlier_version: of its agent,
-- limits_version}. The reason is unknown, superseded, leased, not_queued, poisoned, context_too_large (_fail_too_large);
-- alone: the run is queued for a worker that holds no other run, with lost: {worker_id, seen_at, cause?} if a worker lost it, and
-- ends: true if the next claim ends it unless that loss has a cause (_judge_claims); unknown_version, unknown_strategy: the run was moved
-- and the caller adds its job to the returned `agent_queue` (_move_run); unknown_tool: the worker lacks tools that the request names
-- (`tools`) or its thread (`added`), and the caller moves the run (move_for_tools); early: the run may start delay_ms from now;
-- or expired: the run was not started in time and has failed.
create or replace function lanefold.claim_run(p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb)
returns json language plpgsql as $$
begin
  return lanefold._claim_run(p_thread_id, lanefold._await_thread(p_thread_id), p_run_id, p_enqueue_no, p);
end $$;

-- claim_run, for a caller that holds the lock of the thread and has its row `t`.
create or replace function lanefold._claim_run(
  p_thread_id text, t lanefold.thread, p_run_id text, p_enqueue_no int, p jsonb
) returns json language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
  v_refusal json;
  v_fresh boolean;
  v_asks boolean;      -- a compaction has no input message, nor has a run that continues its lane
  v_bytes bigint;
  v_rev bigint := t.rev;
  v_prompt record;
  v_draft jsonb;
  v_inputs jsonb;
  v_injected jsonb := '[]'::jsonb;
  v_context json;
  v_events jsonb;
  v_calls json;
  v_nodes json;
  v_config json;
  v_lease bigint;
  v_until timestamptz;
begin
  perform lanefold._check_thread(p_thread_id, t);
  v_at := lanefold._now();
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found or r.enqueue_no <> p_enqueue_no or r.status <> 'queued'
    or r.started_at is null and (r.start_at > v_at or r.expires_at <= v_at) then
    v_refusal := lanefold._not_claimable(p_thread_id, r, p_run_id, p_enqueue_no, p, v_at);
    if v_refusal is not null then
      return v_refusal;
    end if;
  end if;
  if lanefold._wanted_version(r.options) is not null then
    p := lanefold._under_version(p, lanefold._wanted_version(r.options));
  end if;
  if p is null or p ? 'tools' or not p -> 'strategies' ? lanefold._strategy_of(r) then
    v_refusal := lanefold._unfit(p_thread_id, t, r, p, v_at);
    if v_refusal is not null then
      return v_refusal;
    end if;
  end if;
  if r.status = 'running' and lanefold._lease_over(r.lease_until, r.lease_ms, v_at) then
    perform lanefold._note_lost_worker(p_thread_id, r, v_at);
    r.lost_at := lanefold._last_seen(r, v_at);
  end if;
  r.claims_alone := lanefold._claims_alone(r, p);
  v_refusal := lanefold._judge_claims(p_thread_id, r, p, v_at);
  if v_refusal is not null then
    return v_refusal;
  end if;
  v_bytes := case when t.rev > 0 then lanefold._lane_bytes(p_thread_id, r.context_ref, t.rev - 1) else 0 end
    + lanefold._input_bytes(r.input) + lanefold._queued_bytes(p_thread_id, p_run_id, r.queued_inputs);
  if v_bytes > lanefold._max_context_bytes(p) then
    -- checked before the context is read, because neither the database nor the worker could hold it
    return lanefold._fail_too_large(p_thread_id, p_run_id, r.context_ref, v_bytes, p);
  end if;

  v_fresh := r.started_at is null;
  v_asks := not coalesce(r.options ?| array['compaction', 'continues'], false);
  if v_fresh then
    v_prompt := lanefold._adopt_agent_prompt(p_thread_id, r.context_ref, v_rev, v_at, r.agent, lanefold._with_prompt(p, r.options));
    v_rev := v_rev + v_prompt.written;
  else
    select l.seq, l.prompt into v_prompt from lanefold._lane_prompt(p_thread_id, r.context_ref, v_rev - 1) l;
  end if;
  if v_fresh and v_asks then
    r.user_seq := v_rev;
    v_draft := lanefold._question_draft(r.input);
    insert into lanefold._entry
    values ((lanefold._entry_of(p_thread_id, t.tenant_id, t.chained, v_rev, v_at, r.context_ref, p_run_id, r.request_id, v_draft)).*);
    v_rev := v_rev + 1;
    insert into lanefold._lane (thread_id, tenant_id, context_ref) values (p_thread_id, t.tenant_id, r.context_ref)
    on conflict (thread_id, context_ref) do nothing;
  end if;
  if v_fresh and r.queued_inputs > 0 then
    -- input queued before the run started goes into its first call
    select d.inputs, d.events into v_inputs, v_injected
    from lanefold._drain_inputs(p_thread_id, p_run_id, v_rev, v_at, r.context_ref, r.request_id, 1) d;
    v_rev := v_rev + jsonb_array_length(v_inputs);
    r.queued_inputs := 0;
  end if;

  if t.rev = 0 and v_inputs is null and v_asks then
    -- an empty thread: the context is what was just written
    v_context := lanefold._first_context(v_prompt.seq, v_prompt.prompt, r.user_seq, r.input -> 'content');
  else
    v_context := lanefold._claim_context(p_thread_id, r.context_ref, v_rev - 1, v_prompt.seq, v_prompt.prompt);
  end if;
  if v_fresh then
    v_events := lanefold._claim_events(p -> 'config_fingerprint', v_injected, case when (r.options ? 'compaction') is not true then json_array_length(v_context) end);
    insert into lanefold._event_batch
    values ((lanefold._event_batch_of(p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at,
      coalesce(r.user_seq, v_rev), v_events)).*);
    update lanefold.thread set rev = v_rev, event_rev = event_rev + jsonb_array_length(v_events), updated_at = v_at
    where id = p_thread_id;
  else
    select g.calls, g.nodes into v_calls, v_nodes from lanefold._take_over(p_thread_id, r, p, v_at) g;
    if r.status = 'running' and r.claims_without_progress = 0 then
      -- its worker was lost after progress
      r.ready_at := least(r.lease_until, v_at);
    end if;
  end if;
  v_config := case when t.configured then lanefold._config_of(p_thread_id, r.context_ref, coalesce(r.user_seq, v_rev - 1)) end;

  v_lease := r.lease + coalesce((p ->> 'lease_gap')::int, 1);
  v_until := v_at + (p ->> 'lease_ms')::int * interval '1 ms';
  update lanefold._run
  set status = 'running', lease = v_lease, worker_id = p ->> 'worker_id', lease_until = v_until, lease_ms = (p ->> 'lease_ms')::int,
      ready_at = r.ready_at, started_at = coalesce(started_at, v_at), user_seq = r.user_seq,
      agent_version = coalesce(p ->> 'agent_version', agent_version), first_event_seq = coalesce(first_event_seq, t.event_rev),
      input = null, limited_by = null, agent_unknown_since = null, expires_at = null, iteration = greatest(iteration, 1),
      event_count = event_count + coalesce(jsonb_array_length(v_events), 0), queued_inputs = r.queued_inputs,
      options = case when v_fresh and r.options ? 'pinned' then jsonb_set(r.options, '{pinned}', p -> 'agent_version') else options end,
      claims_without_progress = claims_without_progress + 1, claims_alone = r.claims_alone + (p -> 'alone')::boolean::int, lost_at = null
  where thread_id = p_thread_id and id = p_run_id;
  if v_inputs is not null then
    perform lanefold._note_marks(p_thread_id, p_run_id);
  end if;
  return lanefold._claim_answer(r, v_fresh, v_lease, r.user_seq, t.state, v_config, v_context, v_calls, v_nodes,
    coalesce((extract(epoch from v_at - r.started_at) * 1000)::bigint, 0::bigint),
    greatest(extract(epoch from v_at - r.ready_at) * 1000, 0)::bigint, lanefold._limits_version());
end $$;

-- The refusal of a claim of a run that waits for no worker, under that number or now; null for one that a lost worker held.
create or replace function lanefold._not_claimable(p_thread_id text, r lanefold._run, p_run_id text, p_enqueue_no int, p jsonb, p_at timestamptz)
returns json language plpgsql as $$
declare
  v_end jsonb;
begin
  if r.id is null then
    return json_build_object('claimed', false, 'status', null, 'reason', 'unknown');
  elsif r.enqueue_no <> p_enqueue_no then
    return json_build_object('claimed', false, 'status', r.status, 'reason', 'superseded');
  elsif not (r.status = 'queued' or (r.status = 'running' and (lanefold._lease_over(r.lease_until, r.lease_ms, p_at)
      -- a repeat by the same worker, which did not receive the answer
      or (p ? 'repeated' and r.worker_id = p ->> 'worker_id')))) then
    return (jsonb_build_object('claimed', false, 'status', r.status,
        'reason', case r.status when 'running' then 'leased' else 'not_queued' end)
      || case when r.finished_at is not null then lanefold._promoted(p_thread_id) else '{}' end)::json;
  elsif r.started_at is null and r.start_at > p_at then
    return json_build_object('claimed', false, 'status', r.status, 'reason', 'early', 'delay_ms', lanefold._ms_between(p_at, r.start_at));
  elsif r.started_at is null and r.expires_at <= p_at then
    v_end := lanefold._end_expired(p_thread_id, p_run_id);
    return json_build_object('claimed', false, 'status', v_end -> 'status', 'reason', 'expired', 'promoted', v_end -> 'promoted');
  end if;
  return null;
end $$;

-- The refusal of a claim by a worker that lacks the version of the agent that the run wants (then p is null), its strategy or
-- its tools; null if it has all. Without the version or the strategy, the run is moved.
create or replace function lanefold._unfit(p_thread_id text, t lanefold.thread, r lanefold._run, p jsonb, p_at timestamptz)
returns json language plpgsql as $$
begin
  if p is not null and p -> 'strategies' ? lanefold._strategy_of(r) then
    return lanefold._lacked_tools(p_thread_id, t, r, p);
  end if;
  return json_build_object('claimed', false, 'status', r.status,
    'reason', case when p is null then 'unknown_version' else 'unknown_strategy' end,
    'agent_queue', lanefold._move_run(p_thread_id, r, lanefold._wanted_version(r.options),
      -- the next worker says whether it lacks the strategy, too
      case when p is not null then lanefold._strategy_of(r) end,
      case when r.agent_unknown_since is not null then r.unknown_tools end, p_at));
end $$;

-- The strategy that a run wants. PostgreSQL inlines the function.
create or replace function lanefold._strategy_of(r lanefold._run) returns text
language sql immutable as $$
  select coalesce(r.options #>> '{selection,strategy}', r.strategy)
$$;

-- The claim p with the prompt that the request of the run brought, for an agent without one. PostgreSQL inlines the function.
create or replace function lanefold._with_prompt(p jsonb, p_options jsonb) returns jsonb
language sql stable as $$
  select case when p ->> 'prompt' is null and p_options ? 'prompt' then p || jsonb_build_object('prompt', p_options -> 'prompt') else p end
$$;

-- The configuration of a lane at an entry: {field: value}.
create or replace function lanefold._config_of(p_thread_id text, p_context_ref text, p_upto bigint) returns json
language plpgsql stable as $$
begin
  return (select json_object_agg(c.field, c.value) from lanefold.lane_config_at(p_thread_id, p_context_ref, p_upto) c);
end $$;

-- The context of the first run of an empty thread: the prompt, if any, and the message of the user. PostgreSQL inlines the
-- function.
create or replace function lanefold._first_context(p_prompt_seq bigint, p_prompt text, p_user_seq bigint, p_content jsonb)
returns json language sql stable parallel safe as $$
  select case when p_prompt is null then json_build_array(json_build_object('seq', p_user_seq, 'role', 'user', 'content', p_content))
    else json_build_array(json_build_object('seq', p_prompt_seq, 'role', 'system', 'content', p_prompt),
      json_build_object('seq', p_user_seq, 'role', 'user', 'content', p_content)) end;
$$;

-- The context of a claim: the prompt of the lane, if any, and its messages up to p_upto.
create or replace function lanefold._claim_context(p_thread_id text, p_context_ref text, p_upto bigint, p_prompt_seq bigint, p_prompt text)
returns json language plpgsql stable as $$
declare
  v_context json;
begin
  select json_agg(c) into v_context from (
    select p_prompt_seq as seq, 'system' as role, to_jsonb(p_prompt) as content, null::jsonb as tool_calls,
           null::text as tool_call_id, null::text as name, null::text as thinking, null::jsonb as reasoning_details,
           null::jsonb as provider_metadata, null::jsonb as refs
    where p_prompt is not null
    union all
    select seq, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata,
           -- the refs that a context policy and a chain of models need
           case when refs ?| array['kind', 'dropped', 'kinds', 'room', 'fallback'] then jsonb_strip_nulls(jsonb_build_object('kind', refs -> 'kind',
             'durable', refs -> 'durable', 'policy_hash', refs -> 'policy_hash', 'dropped', refs -> 'dropped',
             'kinds', refs -> 'kinds', 'kinds_cut', refs -> 'kinds_cut', 'room', refs -> 'room',
             'fallback', refs -> 'fallback', 'model', case when refs ? 'fallback' then refs -> 'model' end)) end
    from lanefold._lane_messages(p_thread_id, p_context_ref, p_upto)) c;
  return coalesce(v_context, '[]');
end $$;

-- What a run has done that its next worker, who claims it by p, needs: the calls of an open round, and the results of its
-- strategy. Notes in the trace if the worker has another version of the agent.
create or replace function lanefold._take_over(p_thread_id text, r lanefold._run, p jsonb, p_at timestamptz, out calls json, out nodes json)
language plpgsql as $$
begin
  if r.agent_version <> p ->> 'agent_version' then
    perform lanefold._note_run_event(p_thread_id, r.id, p_at, 'version_changed',
      jsonb_build_object('from', r.agent_version, 'to', p -> 'agent_version'));
  end if;
  if r.state ->> 'phase' = 'tools' then
    select json_agg(c) into calls from (
      select call_index, tool_call_id, name, status, attempts, duration_ms, outcome, approval, call_seq
      from lanefold._tool_call
      where thread_id = p_thread_id and run_id = r.id and round = (r.state ->> 'round')::int order by call_index) c;
  end if;
  if r.state ? 'nodes' then
    select json_agg(k) into nodes from (
      select n.node, n.kind, n.status, n.content, n.call_no, n.usage, n.elapsed_ms, n.data from lanefold._run_node n
      where n.thread_id = p_thread_id and n.run_id = r.id and n.call_no is not null order by n.node) k;
  end if;
end $$;

-- The events of a first claim: p_injected are those of drained inputs; p_messages is null for a compaction, which calls
-- no model here. PostgreSQL inlines the function.
create or replace function lanefold._claim_events(p_fingerprint jsonb, p_injected jsonb, p_messages bigint)
returns jsonb language sql stable as $$
  select jsonb_build_array(jsonb_build_object('k', 'request_started', 'i', 1, 'e', 0,
      'd', jsonb_build_object('config_fingerprint', p_fingerprint)))
    || p_injected
    || case when p_messages is null then '[]' else jsonb_build_array(jsonb_build_object('k', 'llm_started', 'i', 1, 'c', 1,
      'd', jsonb_build_object('message_count', p_messages))) end;
$$;

-- The answer of a successful claim. `r` is the row of the run before the claim, so what the claim changes is given.
-- PostgreSQL inlines the function.
create or replace function lanefold._claim_answer(
  r lanefold._run, p_fresh boolean, p_lease bigint, p_user_seq bigint, p_thread_state jsonb, p_config json, p_context json,
  p_calls json, p_nodes json, p_elapsed_ms bigint, p_queued_ms bigint, p_limits_version bigint
) returns json language sql stable as $$
  select json_build_object('claimed', true, 'fresh', p_fresh, 'lease', p_lease, 'step', r.step, 'iteration', greatest(r.iteration, 1),
    'agent', r.agent, 'strategy', r.strategy, 'model', r.model, 'context_ref', r.context_ref, 'request_id', coalesce(r.request_id, r.id),
    'options', r.options, 'usage', r.usage, 'other_usage', r.other_usage, 'state', r.state,
    'cancel_requested', r.cancel_requested_at is not null, 'user_seq', p_user_seq, 'thread_state', p_thread_state, 'config', p_config,
    'context', p_context, 'calls', p_calls, 'nodes', p_nodes, 'elapsed_ms', p_elapsed_ms, 'queued_ms', p_queued_ms, 'traceparent', r.traceparent,
    'tenant_id', r.tenant_id, 'caller', r.caller, 'created_at', r.created_at, 'waited', r.limited_by is not null and not p_fresh,
    'unknown_tools', case when r.agent_unknown_since is not null then r.unknown_tools end, 'earlier_version', r.agent_version, 'limits_version', p_limits_version);
$$;

-- The refusal of a claim by a worker that lacks tools which the request of the run names, or its thread where the request does
-- not; null if it has all, or p names none.
create or replace function lanefold._lacked_tools(p_thread_id text, t lanefold.thread, r lanefold._run, p jsonb)
returns json language plpgsql stable as $$
declare
  v_added jsonb := jsonb_build_array();
  v_lacked jsonb;
  v_lacked_added jsonb;
begin
  if not p ? 'tools' then
    return null;
  end if;
  if t.configured and (r.options ? 'tools') is not true then
    select c.value -> 'added' into v_added
    from lanefold.lane_config_at(p_thread_id, r.context_ref, coalesce(r.user_seq, t.rev - 1)) c where c.field = 'tools';
  end if;
  select jsonb_agg(distinct n) into v_lacked
  from jsonb_array_elements_text(coalesce(r.options -> 'tools', '[]') || coalesce(r.options -> 'allowed_tools', '[]')) n
  where not p -> 'tools' ? n;
  select jsonb_agg(distinct n) into v_lacked_added
  from jsonb_array_elements_text(coalesce(v_added, '[]')) n
  where not p -> 'tools' ? n and (p -> 'ignored_tools' ? n) is not true;
  return case when coalesce(v_lacked, v_lacked_added) is not null then
    json_build_object('claimed', false, 'status', r.status, 'reason', 'unknown_tool',
      'tools', coalesce(v_lacked, '[]'), 'added', coalesce(v_lacked_added, '[]')) end;
end $$;

-- The version of its agent that a run wants, as its options say: the id that it is pinned to, or a label or an id. Null: any.
create or replace function lanefold._wanted_version(p_options jsonb) returns text
language sql immutable as $$
  select case when jsonb_typeof(p_options -> 'pinned') = 'string' then p_options ->> 'pinned' else p_options ->> 'version' end
$$;

-- The claim p under a version of the agent, by label or id; null if the worker lacks it. p.versions has what each version
-- that the worker has changes of the claim, by label, or by id for one without.
create or replace function lanefold._under_version(p jsonb, p_version text) returns jsonb
language sql immutable as $$
  select case
    when p -> 'versions' ? p_version then p || (p #> array['versions', p_version])
    when p ->> 'agent_version' = p_version then p
    else (select p || v.value from jsonb_each(p -> 'versions') v where v.value ->> 'agent_version' = p_version limit 1) end
$$;
