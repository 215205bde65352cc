-- Raises LF012: a worker writes to a run it no longer holds.
create or replace function lanefold._fail_not_held(p_run_id text, p_lease bigint)
returns void language plpgsql as $$
begin
  perform lanefold._fail('LF012', format('Run %s is no longer held under lease %s.', p_run_id, p_lease),
    'Nothing was written. Another worker holds the run, or it has ended; drop it.');
end $$;
