-- The row of the events that a commit adds to the trace of a run: p_first_event is the number of the first one in the thread,
-- p_first of the first one in the run. The columns are in the order of the table, and have its
-- collations, without which PostgreSQL would not inline the function.
create or replace function lanefold._event_batch_of(
  p_thread_id text, p_tenant text, p_first_event bigint, p_run_id text, p_first int, p_at timestamptz, p_entry_seq bigint, p_events jsonb
) returns lanefold._event_batch language sql immutable parallel safe as $$
  select row(p_first_event, p_at, p_entry_seq, p_first, p_thread_id collate "C", p_tenant collate "C", p_run_id collate "C",
    lanefold._packed_events(p_events))::lanefold._event_batch;
$$;
