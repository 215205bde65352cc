-- Raises LF023 if p_more additional bytes would make the context of a lane larger than p.max_context_bytes. The caller
-- holds the lock of the thread.
create or replace function lanefold._check_context(p_thread_id text, p_context_ref text, p_more bigint, p jsonb)
returns void language plpgsql as $$
declare
  v_max constant bigint := lanefold._max_context_bytes(p);
  v_bytes constant bigint := lanefold._lane_bytes(p_thread_id, p_context_ref, 9223372036854775807) + p_more;
begin
  if v_bytes > v_max then
    perform lanefold._fail('LF023', format('The context of lane %s of thread %s would have %s bytes, more than %s.', p_context_ref,
        p_thread_id, v_bytes, v_max), 'Compact, replace or reset the lane, or use another one.');
  end if;
end $$;

-- The maximum size of a lane's context, in bytes: 32 MiB by default.
create or replace function lanefold._max_context_bytes(p jsonb)
returns bigint language sql immutable parallel safe as $$
  select coalesce((p ->> 'max_context_bytes')::bigint, 33554432);
$$;
