-- Raises LF002: the id of a thread is taken. Ids are unique across tenants, so a tenant can learn that an id is used
-- by another tenant, and nothing else.
create or replace function lanefold._fail_taken(p_thread_id text)
returns void language plpgsql as $$
begin
  perform lanefold._fail('LF002', format('Thread %s already exists.', p_thread_id),
    'Use another id, or continue with the existing thread.');
end $$;
