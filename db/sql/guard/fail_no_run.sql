-- Raises LF011: the run does not exist.
create or replace function lanefold._fail_no_run(p_thread_id text, p_run_id text)
returns void language plpgsql as $$
begin
  perform lanefold._fail('LF011', format('Run %s of thread %s does not exist.', p_run_id, p_thread_id), 'Check the ids.');
end $$;
