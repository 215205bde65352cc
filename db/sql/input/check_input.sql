-- Raises an error if the active run cannot take an input: LF025 there is no active run (`r` is null), LF026 another run
-- than the expected one is active, LF027 the run is about to end, LF028 its strategy takes no input, LF014 the content is
-- neither text nor a list of parts, or has what _content_problem rejects, LF029 it is empty, LF030 it has more than 8 MiB, LF031 64 inputs or 8 MiB already
-- wait. p is the argument of enqueue_input; p_content, p_parts and
-- p_bytes are its content; p_queued is the size of the input that waits.
create or replace function lanefold._check_input(
  p_thread_id text, r lanefold._run, p jsonb, p_content text, p_parts jsonb, p_bytes int, p_queued bigint
) returns void language plpgsql as $$
declare
  v_most constant int := 8388608;
begin
  if r.id is null then
    perform lanefold._fail('LF025', format('Thread %s has no active run.', p_thread_id), 'Start a run with this input.');
  elsif p ->> 'expected_run_id' <> r.id then
    perform lanefold._fail('LF026', format('Run %s is active on thread %s, not run %s.', r.id, p_thread_id, p ->> 'expected_run_id'),
      'Check whether the input still applies to the active run.');
  elsif p ->> 'expected_request_id' <> coalesce(r.request_id, r.id) then
    perform lanefold._fail('LF026', format('Request %s is active on thread %s, not request %s.',
        coalesce(r.request_id, r.id), p_thread_id, p ->> 'expected_request_id'),
      'Check whether the input still applies to the active run.');
  elsif r.sealed_at is not null then
    perform lanefold._fail('LF027', format('Run %s is about to end and takes no more input.', r.id),
      'Wait until it ends, then start another run.');
  elsif r.options -> 'takes_input' = 'false' then
    perform lanefold._fail('LF028', format('The strategy of run %s takes no input.', r.id), 'Wait until it ends, then start another run.');
  elsif p_parts is null and jsonb_typeof(p -> 'content') is distinct from 'string' then
    perform lanefold._fail('LF014', 'The input is neither text nor a list of content parts.',
      'Nothing was written. Send text or content parts.');
  elsif lanefold._content_problem(p_parts) is not null then
    perform lanefold._fail('LF014', format('The input has %s.', lanefold._content_problem(p_parts)), 'Nothing was written. Correct it and send it again.');
  elsif p_parts = '[]' or p_parts is null and p_content = '' then
    perform lanefold._fail('LF029', 'The input is empty.', 'Nothing was written. White space alone counts as empty.');
  elsif p_bytes > v_most then
    perform lanefold._fail('LF030', format('The input has %s bytes; the limit is %s.', p_bytes, v_most), 'Send less.');
  elsif r.queued_inputs >= 64 or p_bytes + p_queued > v_most then
    perform lanefold._fail('LF031', format('Run %s has too much waiting input; the limits are 64 inputs and 8 MiB.', r.id),
      'Try again after its next model call.');
  end if;
end $$;
