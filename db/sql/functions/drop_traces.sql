-- Empties runs that ended more than p_days ago of what only their trace says: events, state, and results that are no
-- message of the log. The rows of runs and of the ledger stay, with their keys and numbers; so does the log. At most
-- p_limit runs, oldest first; threads at work are left for the next time. Returns how many runs were emptied.
create or replace function lanefold.drop_traces(p_days float8, p_limit int default 100)
returns int language plpgsql as $$
declare
  v_before constant timestamptz := clock_timestamp() - p_days * interval '1 day';
  d record;
  v_runs int := 0;
begin
  for d in
    select due.thread_id, array_agg(due.id) as ids from (
      select r.thread_id, r.id from lanefold._run r
      join lanefold.thread t on t.id = r.thread_id
      where r.finished_at < v_before and r.trace_dropped_at is null
      order by r.finished_at limit p_limit
      for update of t skip locked) due
    group by due.thread_id
  loop
    delete from lanefold._event_batch b using lanefold._run r
    where r.thread_id = d.thread_id and r.id = any (d.ids) and b.thread_id = r.thread_id and b.run_id = r.id
      and b.event_seq >= coalesce(r.first_event_seq, 0) and b.event_seq <= coalesce(r.last_event_seq, 9223372036854775807);
    update lanefold._run set trace_dropped_at = clock_timestamp(), state = null, result = null, last_commit = null, input = null
    where thread_id = d.thread_id and id = any (d.ids);
    v_runs := v_runs + cardinality(d.ids);
  end loop;
  return v_runs;
end $$;
