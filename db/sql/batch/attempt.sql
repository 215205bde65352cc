-- One write of a batch: calls one of the functions below on its thread, so that writes to many threads share a
-- transaction without affecting each other. Skips a thread that another transaction has locked (`locked`) instead of
-- waiting for it. An error undoes only this write and is returned, not raised. p_args are the arguments of the
-- function after the thread id. Because it never waits, two batches cannot deadlock, whatever the order of their
-- threads.
create or replace function lanefold.attempt(
  p_thread_id text, p_function text, p_args jsonb, out result json, out locked boolean, out error json
) language plpgsql as $$
declare
  t lanefold.thread;
  v_state text;
  v_message text;
  v_hint text;
begin
  locked := false;
  if lanefold._is_for_workers(p_function) and not lanefold._sees_all() then
    raise insufficient_privilege using message = format('permission denied for function %s', p_function);
  end if;
  -- `nowait` does not cover a transaction that creates the thread, or one that renews the lease of the run
  perform set_config('lock_timeout', '50ms', true);
  select * into t from lanefold.thread where id = p_thread_id for update nowait;
  case p_function
    when 'commit_step' then
      result := lanefold._commit_step(p_thread_id, t, p_args ->> 0, (p_args ->> 1)::bigint, (p_args ->> 2)::int,
        (p_args ->> 3)::int, p_args -> 4)::json;
    when 'claim_run' then
      result := lanefold._claim_run(p_thread_id, t, p_args ->> 0, (p_args ->> 1)::int, p_args -> 2);
    when 'enqueue_run' then
      result := lanefold._enqueue_run(p_thread_id, t, p_args -> 0);
    when 'record_tool_call' then
      result := lanefold._record_tool_call(p_thread_id, p_args ->> 0, (p_args ->> 1)::bigint, (p_args ->> 2)::int,
        (p_args ->> 3)::int, (p_args ->> 4)::int, p_args -> 5)::json;
    when 'enqueue_input' then
      result := lanefold.enqueue_input(p_thread_id, p_args -> 0)::json;
    when 'append_entries' then
      result := lanefold.append_entries(p_thread_id, p_args -> 0, p_args -> 1)::json;
    when 'finish_run' then
      result := lanefold.finish_run(p_thread_id, p_args ->> 0, (p_args ->> 1)::bigint, p_args -> 2)::json;
  end case;
exception when others then
  get stacked diagnostics v_state = returned_sqlstate, v_message = message_text, v_hint = pg_exception_hint;
  result := null;
  locked := v_state = '55P03';
  error := json_build_object('code', v_state, 'message', v_message, 'hint', v_hint);
end $$;
