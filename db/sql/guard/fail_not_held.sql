-- Raises LF012: a worker writes to a run it no longer holds.
create or replace function lanefold._fail_not_held(p_run_id text, p_lease bigint)
returns void language plpgsql as $$
begin
  perform lanefold._fail('LF012', format('Run %s is no longer held under lease %s.', p_run_id, p_lease),
    'Another worker has it or it has ended; drop the work, nothing was written.');
end $$;
