-- Updates one row of the ledger while other calls of the round still run, and renews the lease: `started` before an
-- attempt, or the outcome. p: {status, attempts, duration_ms?, outcome?: {content, …}, contents?, wait?: what the call
-- waits for, or the run it has started, see _write_wait}. An outcome that is
-- already stored stays unchanged. Returns {cancel_requested, deliveries?: of webhooks are due}. Raises LF012 for a worker that no longer holds the run,
-- LF013 if the run has no such call.
create or replace function lanefold.record_tool_call(
  p_thread_id text, p_run_id text, p_lease bigint, p_lease_ms int, p_round int, p_call_index int, p jsonb
) returns jsonb language plpgsql as $$
begin
  perform lanefold._await_thread(p_thread_id);
  return lanefold._record_tool_call(p_thread_id, p_run_id, p_lease, p_lease_ms, p_round, p_call_index, p);
end $$;

-- record_tool_call, for a caller that holds the lock of the thread.
create or replace function lanefold._record_tool_call(
  p_thread_id text, p_run_id text, p_lease bigint, p_lease_ms int, p_round int, p_call_index int, p jsonb
) returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
  v_until timestamptz;
  v_wait jsonb;
begin
  v_at := lanefold._now();
  v_until := v_at + p_lease_ms * interval '1 ms';
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.lease is distinct from p_lease or r.status <> 'running' then
    perform lanefold._fail_not_held(p_run_id, p_lease);
  end if;
  update lanefold._run set lease_until = v_until where thread_id = p_thread_id and id = p_run_id;
  update lanefold._tool_call
  set status = p ->> 'status', attempts = (p ->> 'attempts')::smallint, duration_ms = (p ->> 'duration_ms')::int,
      started_at = coalesce(started_at, v_at), outcome = p -> 'outcome', finished_at = case when p ? 'outcome' then v_at end
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index
    and outcome is null and result_seq is null;
  if found then
    if p ? 'contents' then
      perform lanefold._store_contents(p_thread_id, r.tenant_id, p -> 'contents');
    end if;
    if p ? 'wait' then
      select * into t from lanefold.thread where id = p_thread_id;
      v_wait := lanefold._write_wait(p_thread_id, t, r, p_round, p_call_index, p -> 'wait', v_at);
    end if;
  else
    perform from lanefold._tool_call
    where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index;
    if not found then
      perform lanefold._fail('LF013', format('Run %s has no call %s.%s.', p_run_id, p_round, p_call_index),
        'Nothing was written. A failover lost the step of this call; drop the run.');
    end if;
  end if;
  return jsonb_build_object('cancel_requested', r.cancel_requested_at is not null)
    || case when v_wait ? 'deliveries' then '{"deliveries": true}' else '{}' end::jsonb;
end $$;
