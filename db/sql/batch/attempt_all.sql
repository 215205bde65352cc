-- A batch: [{thread_id, function, args, ends?}], each call as `attempt` takes it. Returns the answers in the same
-- order. `ends` is the id of a run; if the call ends that run, its result also has the `run`, as read_run returns it,
-- so that waiting clients need no query.
-- Plain calls are executed together, with one statement per table. All other calls are attempted one by one; if an
-- error occurs among the plain calls, all calls are. A batch of one call skips the joint execution, which would be
-- slower.
-- A sharded database has no batches.
create or replace function lanefold.attempt_all(p_calls jsonb)
returns table (result json, locked boolean, error json) language plpgsql rows 10 as $$
declare
  v_call jsonb;
  v_n int := 0;
  v_place int;
  v_result json;
  v_plain json[] := array[]::json[];  -- results of plain calls, by place in the batch
begin
  if jsonb_array_length(p_calls) > 1 then
    begin
      -- `skip locked` does not cover a transaction that creates a thread, or one that renews the lease of a run
      perform set_config('lock_timeout', '50ms', true);
      if p_calls @> '[{"function": "enqueue_run"}]' then
        for v_place, v_result in select a.place, a.result from lanefold._plain_requests(p_calls) a loop
          v_plain[v_place] := v_result;
        end loop;
      end if;
      if lanefold._sees_all() then
        if p_calls @> '[{"function": "claim_run"}]' then
          for v_place, v_result in select a.place, a.result from lanefold._plain_claims(p_calls) a loop
            v_plain[v_place] := v_result;
          end loop;
        end if;
        if p_calls @> '[{"function": "commit_step"}]' then
          for v_place, v_result in select a.place, a.result from lanefold._plain_steps(p_calls) a loop
            v_plain[abs(v_place)] := case when v_place > 0 then v_result else (v_plain[-v_place]::jsonb || v_result::jsonb)::json end;
          end loop;
        end if;
      end if;
    exception when others then
      v_plain := array[]::json[];
    end;
  end if;
  for v_call in select value from jsonb_array_elements(p_calls) loop
    v_n := v_n + 1;
    if v_plain[v_n] is not null then
      result := v_plain[v_n];
      locked := false;
      error := null;
    else
      select a.result, a.locked, a.error into result, locked, error
      from lanefold.attempt(v_call ->> 'thread_id', v_call ->> 'function', v_call -> 'args') a;
    end if;
    if v_call ? 'ends' and result is not null then
      result := (result::jsonb || jsonb_build_object('run', lanefold.read_run(v_call ->> 'thread_id', v_call ->> 'ends')))::json;
    end if;
    return next;
  end loop;
end $$;
