-- Stores the score that a monitor gave to a run, once. p: {thread_id, run_id, agent, agent_version?, ended_at, status: waiting|done, score?, scores,
-- judge?: {thread_id, run_id}, of a run that waits for it}. Raises or ends the alert of the monitor. Returns false if the
-- monitor or the run is gone.
create or replace function lanefold.store_run_score(p_tenant text, p_name text, p jsonb)
returns boolean language plpgsql as $$
declare
  v_at timestamptz;
  v_judge text;
  m lanefold._monitor;
begin
  -- first, so that of two runs that are scored together the later one counts the other
  select * into m from lanefold._monitor where tenant_id = p_tenant and name = p_name for update;
  if m.name is null then
    return false;
  end if;
  v_at := lanefold._now();
  -- locked, so that an erasure that begins now finds the score
  perform from lanefold.thread where id = p ->> 'thread_id' and erased_at is null for share;
  if not found then
    return false;
  end if;
  insert into lanefold._run_score as s (tenant_id, monitor, thread_id, run_id, agent, agent_version, status, score, scores, ended_at, scored_at,
    judge_thread_id, judge_run_id)
  values (p_tenant, p_name, p ->> 'thread_id', p ->> 'run_id', p ->> 'agent', p ->> 'agent_version', p ->> 'status', (p ->> 'score')::float8,
    p -> 'scores', (p ->> 'ended_at')::timestamptz, v_at, p -> 'judge' ->> 'thread_id', p -> 'judge' ->> 'run_id')
  on conflict (tenant_id, monitor, thread_id, run_id) do update
  set status = excluded.status, score = excluded.score, scores = excluded.scores, scored_at = excluded.scored_at
  where s.status = 'waiting' and excluded.status = 'done'
  returning s.judge_thread_id into v_judge;
  if not found then
    return true;
  end if;
  if p ->> 'status' = 'waiting' then
    update lanefold._eval_thread set erase_at = null where tenant_id = p_tenant and thread_id = v_judge;
    return true;
  end if;
  update lanefold._eval_thread set erase_at = v_at where tenant_id = p_tenant and thread_id = v_judge;
  if p ->> 'score' is not null then
    update lanefold._monitor set scored = scored + 1 where tenant_id = p_tenant and name = p_name returning * into m;
    perform lanefold._check_alert(m);
  end if;
  return true;
end $$;

-- Notes the thread of a judge that the caller is about to ask. Unless a score waits for it after p_hold_ms, workers erase it: it quotes
-- a conversation that may be erased meanwhile.
create or replace function lanefold.plan_judge(p_tenant text, p_name text, p_thread text, p_run text, p_hold_ms int)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now() + p_hold_ms * interval '1 ms';
begin
  insert into lanefold._eval_thread as t (tenant_id, thread_id, run_id, eval_id, no, erase_at)
  values (p_tenant, p_thread, p_run, '/monitors/' || p_name, 0, v_at)
  on conflict (tenant_id, thread_id) do update set erase_at = excluded.erase_at where t.erase_at is not null;
end $$;

-- Notes that the scores of a monitor are low, or no longer low: by the mean of the last `of` runs, and at most once in `of` runs.
create or replace function lanefold._check_alert(m lanefold._monitor)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_of constant int := (m.alert ->> 'of')::int;
  v_mean numeric;
  v_count int;
  v_worst jsonb;
  v_low boolean;
begin
  if m.alert is null or m.scored - m.turned_at < v_of then
    return;
  end if;
  with last as (
    select s.thread_id, s.run_id, s.score from lanefold._run_score s
    where s.tenant_id = m.tenant_id and s.monitor = m.name and s.status = 'done' and s.score is not null and s.scored_at >= m.updated_at
    order by s.scored_at desc, s.thread_id desc, s.run_id desc limit v_of
  )
  -- rounded, because a mean of 0.9 and nothing else may be less than 0.9
  select round(avg(l.score)::numeric, 9), count(*)::int, (select jsonb_agg(jsonb_build_object('thread_id', w.thread_id, 'run_id', w.run_id, 'score', w.score) order by w.score, w.run_id)
    from (select * from last order by score, run_id limit 5) w)
  into v_mean, v_count, v_worst from last l;
  v_low := v_mean < (m.alert ->> 'below')::numeric;
  -- threads may have been erased
  if v_count < v_of or v_low = (m.low_since is not null) then
    return;
  end if;
  update lanefold._monitor set turned_at = m.scored, low_since = case when v_low then v_at end where tenant_id = m.tenant_id and name = m.name;
  if lanefold._note_event(format('/monitors/%s/%s', m.tenant_id, m.name), m.tenant_id, case when v_low then 'monitor.low' else 'monitor.recovered' end,
    case when cardinality(m.agents) = 1 then m.agents[1] else '' end, format('%s %s %s', m.name, extract(epoch from m.updated_at), m.scored),
    m.alert || jsonb_build_object('monitor', m.name, 'agents', to_jsonb(m.agents), 'mean', v_mean, 'worst', v_worst))
  then
    perform pg_notify('lanefold_webhooks', '');
  end if;
end $$;

-- Deletes up to p_limit scores that are older than p_days. Returns how many.
create or replace function lanefold.drop_run_scores(p_days float8, p_limit int)
returns int language plpgsql as $$
declare
  v_before constant timestamptz := lanefold._now() - p_days * interval '1 day';
  v_count int;
begin
  delete from lanefold._run_score s
  using (select o.tenant_id, o.monitor, o.thread_id, o.run_id from lanefold._run_score o
    where o.status = 'done' and o.scored_at < v_before order by o.scored_at limit p_limit for update skip locked) old
  where s.tenant_id = old.tenant_id and s.monitor = old.monitor and s.thread_id = old.thread_id and s.run_id = old.run_id;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
