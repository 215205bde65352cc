-- Makes a branch that was written during a run the active lane, by a switch in the log. The caller holds the lock of the
-- thread. A branch is shown late at most once, which the op_id says.
create or replace function lanefold._show_branch(p_thread_id text, p_context_ref text)
returns void language plpgsql as $$
begin
  perform lanefold._write_operation(p_thread_id, 'show/' || p_context_ref, p_context_ref, '{"type": "switch", "reason": "branch"}', null);
end $$;
