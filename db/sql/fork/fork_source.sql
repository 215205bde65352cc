-- Reads what create_fork needs for a fork: the configuration and state of a thread and the context of each lane as of
-- an entry.
-- p: {at_seq?: inclusive, -1 is before the first entry, default the last; context_ref?: only this lane, default all
-- except those of strategies' questions, which belong to their runs; repair?: closes an open tool group with error
-- results; max_bytes?: of all contexts together, default 128 MiB, because a jsonb value is limited to 256 MiB;
-- contents?: ids of large texts that the fork quotes besides those of its contexts}.
-- A prompt of an agent's definition keeps that source, so that another agent may replace it. The time depends on the
-- contexts, not on the length of the log; only the state as of an earlier entry is folded from all its changes.
-- Returns {parent_thread_id, fork_seq, tenant_id, active_context_ref, config, state, lanes, contents}. Raises LF001,
-- LF003, LF008 inside an open tool group, LF014 beyond the head, LF023 too large.
create or replace function lanefold.fork_source(p_thread_id text, p jsonb)
returns jsonb language plpgsql stable as $$
declare
  t lanefold.thread;
  v_seq bigint;
  v_config jsonb;
  v_state jsonb;
  v_refs text[];
  v_ref text;
  v_bytes bigint := 0::bigint;
  v_lanes jsonb[] := '{}'::jsonb[];
  v_contents jsonb;
  v_active text := p ->> 'context_ref';
begin
  select * into t from lanefold.thread where id = p_thread_id;
  perform lanefold._check_thread(p_thread_id, t);
  v_seq := coalesce((p ->> 'at_seq')::bigint, t.rev - 1);
  if v_seq < -1 or v_seq >= t.rev then
    perform lanefold._fail('LF014', format('Thread %s has no entry %s to fork at: its last entry is %s.', p_thread_id, v_seq, t.rev - 1),
      'Pass the seq of an entry, -1 to begin empty, or nothing for the last entry.');
  end if;
  select coalesce(to_jsonb(array_agg(jsonb_build_object('kind', 'ai_config_change', 'context_ref', c.context_ref, 'payload', c.payload,
    'refs', c.refs) order by c.seq)), '[]')
  into v_config from (
    select distinct on (e.context_ref, e.payload ->> 'field') e.context_ref, e.payload, e.refs, e.seq
    from lanefold._entry e
    where e.thread_id = p_thread_id and e.kind = 'ai_config_change' and e.seq <= v_seq
      and (p ->> 'context_ref' is null or e.context_ref is null or e.context_ref = p ->> 'context_ref')
    order by e.context_ref, e.payload ->> 'field', e.seq desc) c;
  if v_seq < t.rev - 1 then
    v_state := lanefold.thread_state_at(p_thread_id, v_seq);
    v_active := coalesce(v_active, lanefold._active_lane_at(p_thread_id, v_seq));
  else
    v_state := t.state;
    v_active := coalesce(v_active, t.active_context_ref);
  end if;
  select array_agg(l.context_ref order by l.context_ref) into v_refs from lanefold._lane l
  where l.thread_id = p_thread_id
    and (exists (
        select from lanefold._entry e
        where e.thread_id = p_thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation' and e.seq <= v_seq)
      or exists (
        select from lanefold._entry e
        where e.thread_id = p_thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message' and e.seq <= v_seq))
    and (l.context_ref = v_active or p ->> 'context_ref' is null and not exists (
        select from lanefold._run r where r.thread_id = p_thread_id and r.id = substring(l.context_ref from '^(.+)\.[0-9]+$')));
  foreach v_ref in array coalesce(v_refs, '{}') loop
    v_bytes := v_bytes + lanefold._lane_bytes(p_thread_id, v_ref, v_seq);
  end loop;
  if v_bytes > coalesce((p ->> 'max_bytes')::bigint, 134217728) then
    perform lanefold._fail('LF023', format('The contexts of thread %s have %s bytes as of entry %s: too many for one fork.', p_thread_id,
      v_bytes, v_seq), 'Fork one lane with context_ref, or compact the lanes first.');
  end if;
  foreach v_ref in array coalesce(v_refs, '{}') loop
    v_lanes := array_append(v_lanes, jsonb_build_object('context_ref', v_ref, 'context',
      lanefold._fork_context(p_thread_id, v_ref, v_seq, coalesce((p -> 'repair')::boolean, false))));
  end loop;
  select coalesce(to_jsonb(array_agg(jsonb_build_object('id', c.id, 'home', coalesce(c.home_thread_id, p_thread_id)))), '[]') into v_contents
  from lanefold.content c
  where c.thread_id = p_thread_id and c.id in (
    select k ->> 'id' from jsonb_path_query(to_jsonb(v_lanes), '$[*].context.entries[*].refs.contents[*]') k
    union all select k from jsonb_array_elements_text(p -> 'contents') k);
  return jsonb_build_object('parent_thread_id', p_thread_id, 'fork_seq', v_seq, 'tenant_id', t.tenant_id,
    'active_context_ref', v_active, 'config', v_config, 'state', v_state, 'lanes', to_jsonb(v_lanes), 'contents', v_contents);
end $$;

-- The lane that was active as of an entry: the lane of the latest operation not written by a run. A run compacts and
-- restores its own lane, which is not necessarily the active one, and a branch may be shown later or not at all.
create or replace function lanefold._active_lane_at(p_thread_id text, p_seq bigint)
returns text language plpgsql stable as $$
declare
  v_ref text;
begin
  select l.context_ref into v_ref
  from lanefold._lane l
  join lateral (
    select e.seq from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation' and e.seq <= p_seq
      and e.run_id is null and e.op_id not like 'restore/%'  -- callers' op_ids contain no slash
      and (e.payload #> '{operation,meta,branch,shown}') is distinct from 'false'
    order by e.seq desc limit 1
  ) o on true
  where l.thread_id = p_thread_id order by o.seq desc limit 1;
  return coalesce(v_ref, 'default');
end $$;

-- The context of a lane as an anchor for another thread or lane: closed groups only, and without the cuts of its model
-- calls, which name entries that the other one lacks.
create or replace function lanefold._fork_context(p_thread_id text, p_context_ref text, p_seq bigint, p_repair boolean)
returns jsonb language plpgsql stable as $$
declare
  v_context jsonb := lanefold._context_snapshot(p_thread_id, p_context_ref, p_seq);
  v_entries jsonb := v_context -> 'entries';
  v_problem text;
  v_source text;
begin
  v_problem := lanefold._messages_problem(v_entries);
  if v_problem is not null then
    if not p_repair then
      perform lanefold._fail('LF008', format('Entry %s of thread %s lies inside an open tool group of lane %s: %s.', p_seq, p_thread_id,
        p_context_ref, v_problem),
        'Choose an entry before or after the group; for a fork, one lane with context_ref, or repair: true to close it with error results.');
    end if;
    v_entries := lanefold._repair_messages(v_entries);
  end if;
  select coalesce(to_jsonb(array_agg(case when m ? 'refs'
    then jsonb_set(m, '{refs}', (m -> 'refs') - array['dropped', 'policy_hash', 'kinds', 'kinds_cut', 'cut_moved', 'summary_role', 'prompt',
      'over_budget', 'sent_as'])
    else m end order by n)), '[]')
  into v_entries from jsonb_array_elements(v_entries) with ordinality as x (m, n);
  -- a prompt from another source is part of the configuration
  select l.source into v_source from lanefold._lane_prompt(p_thread_id, p_context_ref, p_seq) l;
  return case when v_source = 'anchor' then v_context else v_context - 'system_prompt' end || jsonb_build_object('entries', v_entries);
end $$;
