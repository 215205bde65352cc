-- Stores the marks of a run, so that lists find it by them. `waiting` is not among them: it is a state. Called by the
-- commit in which a mark may have arisen, after everything else that it writes; most runs end without one.
create or replace function lanefold._note_marks(p_thread_id text, p_run_id text)
returns void language plpgsql as $$
declare
  r lanefold._run;
  m record;
begin
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  for m in
    select x.kind, count(*)::int as count, (array_agg(x.seq order by x.seq nulls last, x.llm_call_id))[1] as seq,
           (array_agg(x.llm_call_id order by x.seq nulls last, x.llm_call_id))[1] as llm_call_id
    from lanefold.run_marks(p_thread_id, array[p_run_id]) x where x.kind <> 'waiting' group by x.kind
  loop
    insert into lanefold._run_mark (thread_id, tenant_id, run_id, kind, count, seq, llm_call_id, created_at, agent, agent_version)
    values (p_thread_id, r.tenant_id, p_run_id, m.kind, m.count, m.seq, m.llm_call_id, r.created_at, r.agent, r.agent_version)
    on conflict (thread_id, run_id, kind) do update
    set count = excluded.count, seq = excluded.seq, llm_call_id = excluded.llm_call_id, agent = excluded.agent, agent_version = excluded.agent_version;
  end loop;
  if found and not r.notable then
    update lanefold._run set notable = true where thread_id = p_thread_id and id = p_run_id;
  end if;
  if r.finished_at is not null then
    update lanefold.thread set altered = false where id = p_thread_id and altered and not lanefold._is_altered(p_thread_id);
  end if;
end $$;

-- Whether a lane has an anchor or a prompt that is newer than its last answer.
create or replace function lanefold._is_altered(p_thread_id text)
returns boolean language plpgsql stable as $$
declare
  v_lane text;
  v_answer bigint;
begin
  for v_lane in select context_ref from lanefold._lane where thread_id = p_thread_id loop
    select e.seq into v_answer from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = v_lane and e.kind = 'ai_message' and e.role = 'assistant' and e.refs ? 'llm_call_id'
    order by e.seq desc limit 1;
    perform from lanefold._entry e
    where e.thread_id = p_thread_id and (e.context_ref = v_lane or e.context_ref is null) and e.seq > v_answer
      and e.kind in ('ai_context_operation', 'ai_config_change') and (e.is_anchor or e.payload ->> 'field' = 'system_prompt');
    if found then
      return true;
    end if;
  end loop;
  return false;
end $$;

-- Whether events as a batch stores them may make marks.
create or replace function lanefold._is_notable(p_events jsonb)
returns boolean language sql immutable parallel safe as $$
  select p_events @? '$[*] ? (@.k == "llm_retry" || @.k == "llm_lost" || @.k == "worker_lost" || @.k == "compaction_completed"
    || @.k == "input_injected" || @.k == "handed_over"
    || @.k == "llm_completed" && (exists(@.d.cut) || exists(@.d.over_budget) || exists(@.d.model))
    || @.k == "tool_completed" && (@.d.attempts > 1 || @.d.status == "error" || @.d.status == "unknown" || @.d.status == "abandoned"))';
$$;

-- Whether marks may arise or get their place with the end of a run.
create or replace function lanefold._is_notable_end(r lanefold._run)
returns boolean language sql immutable as $$
  select r.status <> 'completed' or r.notable or r.queued_inputs > 0 or lanefold._overrides_model(r.options) or lanefold._is_limit(r.termination_reason);
$$;
