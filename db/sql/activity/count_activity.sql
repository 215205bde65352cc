-- Counts the runs that have ended since the last call, each once, and then earlier ones, newest first: at most p_most of each. A
-- run ends at a time that its transaction notes, some time before the commit. So a call notes up to when the next one counts, and its own
-- transaction; the next one counts once every older transaction has ended. Returns whether there is more to count at once; null if
-- another process is counting. A distributed database counts nothing, because its coordinator does not see the transactions of the nodes.
create or replace function lanefold.count_activity(p_most int)
returns boolean language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  s lanefold._activity_state;
  v_thread_ids text[];
  v_run_ids text[];
  v_at timestamptz;
  v_to timestamptz;
  v_more boolean := false;
begin
  select * into s from lanefold._activity_state where id = 1 for update skip locked;
  if s.id is null then
    return null;
  end if;
  v_at := lanefold._now();
  if s.next_to <= v_at and pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= s.next_xid then
    if s.counted_to is null then
      s.counted_to := s.next_to;
      s.began_at := s.next_to;
      s.filled_to := 'infinity';
    else
      select r.finished_at into v_to from lanefold._run r
      where r.finished_at > s.counted_to and r.finished_at <= s.next_to and r.trace_dropped_at is null
      order by r.finished_at offset p_most - 1 limit 1;
      v_more := found;
      v_to := coalesce(v_to, s.next_to);
      select array_agg(r.thread_id), array_agg(r.id) into v_thread_ids, v_run_ids from lanefold._run r
      where r.finished_at > s.counted_to and r.finished_at <= v_to and r.trace_dropped_at is null;
      perform lanefold._add_activity(v_thread_ids, v_run_ids);
      s.counted_to := v_to;
    end if;
    if not v_more then
      s.next_to := null;
    end if;
  end if;
  if s.next_to is null then
    perform from lanefold._run r where r.finished_at > s.counted_to and r.trace_dropped_at is null limit 1;
    if found or s.counted_to is null then
      -- a clock may go back a little
      s.next_to := greatest(v_at - interval '5 seconds', s.counted_to);
      s.next_xid := pg_current_xact_id()::text::bigint;
    end if;
  end if;
  if s.filled_to > '-infinity' then
    v_to := null;
    select r.created_at into v_to from lanefold._run r
    where r.created_at < s.filled_to order by r.created_at desc offset p_most - 1 limit 1;
    v_more := v_more or v_to is not null;
    v_to := coalesce(v_to, '-infinity');
    select array_agg(r.thread_id), array_agg(r.id) into v_thread_ids, v_run_ids from lanefold._run r
    where r.created_at < s.filled_to and r.created_at >= v_to and r.finished_at <= s.began_at;
    perform lanefold._add_activity(v_thread_ids, v_run_ids);
    s.filled_to := v_to;
  end if;
  update lanefold._activity_state c
  set counted_to = s.counted_to, began_at = s.began_at, filled_to = s.filled_to, next_to = s.next_to, next_xid = s.next_xid
  where c.id = 1 and c is distinct from s;
  -- a chart of minutes goes back no further
  delete from lanefold._activity a where a.minutes = 1 and a.at < v_at - interval '2 days';
  delete from lanefold._activity_fact f where f.minutes = 1 and f.at < v_at - interval '2 days';
  return v_more;
end $$;

-- Adds ended runs to the counts.
create or replace function lanefold._add_activity(p_thread_ids text[], p_run_ids text[])
returns void language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_counts jsonb;
  v_facts jsonb;
  v_minutes_from constant timestamptz := lanefold._now() - interval '2 days';
begin
  if p_run_ids is null then
    return;
  end if;
  select to_jsonb(array_agg(x)) into v_counts from (
    select date_bin('1 minute', r.created_at, '2000-01-01 00:00+00') as at, r.tenant_id, r.agent, r.agent_version, r.model, sum(r.runs) as runs,
           sum(r.failed) as failed, sum(r.unanswered) as unanswered, sum(r.started) as started, sum(r.waited_ms) as waited_ms, sum(r.calls) as calls,
           sum(r.input_tokens) as input_tokens, sum(r.output_tokens) as output_tokens, sum(r.cached_tokens) as cached_tokens,
           sum(r.written_tokens) as written_tokens
    from unnest(p_thread_ids, p_run_ids) as k (thread_id, run_id) join lanefold._activity_run r on r.thread_id = k.thread_id and r.id = k.run_id
    group by 1, 2, 3, 4, 5) x;
  select to_jsonb(array_agg(x)) into v_facts from (
    select date_bin('1 minute', r.created_at, '2000-01-01 00:00+00') as at, r.tenant_id, r.agent, r.agent_version, r.fact, r.value, count(*) as runs,
           max(r.finished_at) as last_at
    from unnest(p_thread_ids, p_run_ids) as k (thread_id, run_id) cross join lateral (
      select x.* from lanefold._activity_run_fact x where x.thread_id = k.thread_id and x.id = k.run_id offset 0) r
    group by 1, 2, 3, 4, 5, 6) x;
  insert into lanefold._activity as a (minutes, at, tenant_id, agent, agent_version, model, runs, failed, unanswered, started, waited_ms, calls,
    input_tokens, output_tokens, cached_tokens, written_tokens)
  select g.minutes, date_bin(g.minutes * interval '1 minute', x.at, '2001-01-01 00:00+00'), x.tenant_id, x.agent, x.agent_version, x.model,
    sum(x.runs), sum(x.failed), sum(x.unanswered), sum(x.started), sum(x.waited_ms), sum(x.calls), sum(x.input_tokens), sum(x.output_tokens),
    sum(x.cached_tokens), sum(x.written_tokens)
  from jsonb_to_recordset(v_counts) as x (at timestamptz, tenant_id text, agent text, agent_version text, model text, runs bigint, failed bigint,
    unanswered bigint, started bigint, waited_ms bigint, calls bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint,
    written_tokens bigint)
  cross join (values (1), (60), (180), (1440)) as g (minutes)
  where g.minutes > 1 or x.at >= v_minutes_from
  group by 1, 2, 3, 4, 5, 6
  on conflict (minutes, at, tenant_id, agent, agent_version, model) do update
  set runs = a.runs + excluded.runs, failed = a.failed + excluded.failed, unanswered = a.unanswered + excluded.unanswered,
      started = a.started + excluded.started, waited_ms = a.waited_ms + excluded.waited_ms, calls = a.calls + excluded.calls,
      input_tokens = a.input_tokens + excluded.input_tokens, output_tokens = a.output_tokens + excluded.output_tokens,
      cached_tokens = a.cached_tokens + excluded.cached_tokens, written_tokens = a.written_tokens + excluded.written_tokens;
  insert into lanefold._activity_fact as f (minutes, at, tenant_id, agent, agent_version, fact, value, runs, last_at)
  select g.minutes, date_bin(g.minutes * interval '1 minute', x.at, '2001-01-01 00:00+00'), x.tenant_id, x.agent, x.agent_version, x.fact, x.value,
    sum(x.runs), max(x.last_at)
  from jsonb_to_recordset(v_facts) as x (at timestamptz, tenant_id text, agent text, agent_version text, fact text, value text, runs bigint,
    last_at timestamptz)
  cross join (values (1), (60), (180), (1440)) as g (minutes)
  where g.minutes > 1 or x.at >= v_minutes_from
  group by 1, 2, 3, 4, 5, 6, 7
  on conflict (minutes, at, tenant_id, agent, agent_version, fact, value) do update
  set runs = f.runs + excluded.runs, last_at = greatest(f.last_at, excluded.last_at);
end $$;

-- Counts the runs of a thread that was just imported: they ended at a time up to which the runs may be counted already. Until the
-- transaction ends, no process counts other runs.
create or replace function lanefold._count_imported(p_thread_id text)
returns void language plpgsql as $$
declare
  s lanefold._activity_state;
  v_thread_ids text[];
  v_run_ids text[];
begin
  select * into s from lanefold._activity_state where id = 1 for share;
  select array_agg(r.thread_id), array_agg(r.id) into v_thread_ids, v_run_ids from lanefold._run r
  where r.thread_id = p_thread_id and r.finished_at <= s.counted_to and (r.finished_at > s.began_at or r.created_at >= s.filled_to);
  perform lanefold._add_activity(v_thread_ids, v_run_ids);
end $$;
