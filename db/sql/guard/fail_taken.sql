-- Raises LF002: the id of a thread is taken, by a thread of whatever tenant. Ids are unique over all tenants, so this is all that
-- one tenant can learn of another's.
create or replace function lanefold._fail_taken(p_thread_id text)
returns void language plpgsql as $$
begin
  perform lanefold._fail('LF002', format('Thread %s exists already.', p_thread_id),
    'Use another id, or continue with the existing thread.');
end $$;
