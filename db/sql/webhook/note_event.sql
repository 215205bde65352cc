-- Notes a fact for the endpoints that want it, in the transaction that settles it: one row names them all, and a worker
-- sends it to each. Those that want order get a delivery each at once, because only the caller holds the lock that orders
-- the facts of a thread. p_key tells the fact from others of its type and thread: noting the same fact again changes
-- nothing. p_thread_id orders it; a fact of no thread has a name there that no thread can have, such as
-- /schedules/<tenant>/<name>. A tenant without endpoints pays for one look at a small table. Returns whether a delivery is
-- due at once: the caller tells the process, which tells a worker after the commit. A notification inside the commit would
-- make the commits of all sessions wait for one another.
create or replace function lanefold._note_event(p_thread_id text, p_tenant text, p_type text, p_agent text, p_key text, p_data jsonb)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  w lanefold._webhook;
  v_webhooks text[];
  v_results text[];
  v_ordered boolean;
  v_healthy boolean;
  v_due boolean := false;
begin
  select array_agg(h.id order by h.id) filter (where not h.ordered), coalesce(array_agg(h.id) filter (where not h.ordered and h.include_result), '{}'),
    bool_or(h.ordered), bool_or(not h.ordered and h.failures = 0 and h.paused_at is null)
  into v_webhooks, v_results, v_ordered, v_healthy
  from lanefold._webhook h
  where h.tenant_id = p_tenant and h.removed_at is null and (h.types = '{}' or p_type = any (h.types)) and (h.agents = '{}' or p_agent = any (h.agents));
  if v_ordered then
    for w in select * from lanefold._webhook where tenant_id = p_tenant and removed_at is null and ordered order by id loop
      if (w.types = '{}' or p_type = any (w.types)) and (w.agents = '{}' or p_agent = any (w.agents)) then
        v_due := lanefold._add_delivery(p_thread_id, w, p_type, p_key, case when w.include_result then p_data else lanefold._without_result(p_data) end)
          or v_due;
      end if;
    end loop;
  end if;
  if v_webhooks is null then
    return v_due;
  end if;
  perform 1 from lanefold._webhook_delivery where thread_id = p_thread_id and id = lanefold._delivery_id(v_webhooks[1], p_type, p_key);
  if found then
    -- noted before, and taken from the outbox
    return v_due;
  end if;
  insert into lanefold._webhook_event (thread_id, tenant_id, type, key, webhook_ids, result_ids, payload, created_at)
  values (p_thread_id, p_tenant, p_type, p_key, v_webhooks, v_results,
    jsonb_build_object('type', p_type, 'timestamp', v_at, 'data', case when v_results = '{}' then lanefold._without_result(p_data) else p_data end), v_at)
  on conflict (thread_id, type, key) do nothing;
  return found and v_healthy or v_due;
end $$;

-- The data of an event for an endpoint that does not want results.
create or replace function lanefold._without_result(p_data jsonb)
returns jsonb language sql immutable parallel safe
return p_data - array['result', 'result_bytes'];

-- Notes the end of a run, and that a limit ended it, if so. Does nothing for a run that has not ended. Returns what to add
-- to the answer of the caller: {deliveries: true} if one is due at once.
create or replace function lanefold._note_run_end(p_thread_id text, p_tenant text, p_run_id text)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_result jsonb;
  v_data jsonb;
  v_due boolean;
begin
  if not exists (select from lanefold._webhook where tenant_id = p_tenant and removed_at is null) then
    return '{}'::jsonb;
  end if;
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.finished_at is null then
    return '{}'::jsonb;
  end if;
  v_result := r.result;
  if v_result is null and r.result_seq is not null then
    select payload -> 'content' into v_result from lanefold._entry where thread_id = p_thread_id and seq = r.result_seq;
  end if;
  v_data := lanefold._run_data(r) || jsonb_strip_nulls(jsonb_build_object('termination_reason', r.termination_reason, 'finish_reason', r.finish_reason, 'answered', r.answered, 'error', r.error,
    'usage', r.usage, 'other_usage', r.other_usage, 'started_at', r.started_at, 'finished_at', r.finished_at));
  if octet_length(v_result::text) > 65536 then
    v_data := v_data || jsonb_build_object('result_bytes', octet_length(v_result::text));
  elsif v_result is not null then
    v_data := v_data || jsonb_build_object('result', v_result);
  end if;
  v_due := lanefold._note_event(p_thread_id, p_tenant, 'run.' || r.status, r.agent, p_run_id, v_data);
  if r.termination_reason = 'budget_exhausted' then
    v_due := lanefold._note_event(p_thread_id, p_tenant, 'limit.exhausted', r.agent, p_run_id, lanefold._without_result(v_data)) or v_due;
  end if;
  return case when v_due then '{"deliveries": true}' else '{}' end::jsonb;
end $$;

-- What every event about a run says.
create or replace function lanefold._run_data(r lanefold._run)
returns jsonb language sql immutable as $$
  select jsonb_build_object('thread_id', r.thread_id, 'run_id', r.id, 'request_id', coalesce(r.request_id, r.id), 'agent', r.agent,
    'status', r.status);
$$;

-- The id of the delivery of a fact to an endpoint; the view of deliveries spells it out.
create or replace function lanefold._delivery_id(p_webhook_id text, p_type text, p_key text)
returns text language sql immutable parallel safe
return 'msg_' || left(encode(sha256(convert_to(p_webhook_id || ' ' || p_type || ' ' || p_key, 'UTF8')), 'hex'), 32);

-- Writes the delivery of a fact to an endpoint, unless it is there. If the endpoint wants order, it waits for the earlier
-- ones of its thread: locking the newest that is pending makes sure that its end is not missed. Returns whether it is due at
-- once; that of an endpoint whose last attempt failed waits for the sweep.
create or replace function lanefold._add_delivery(p_thread_id text, w lanefold._webhook, p_type text, p_key text, p_data jsonb)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_id constant text := lanefold._delivery_id(w.id, p_type, p_key);
  v_waits boolean := false;
  v_no bigint;
begin
  if w.ordered then
    perform 1 from lanefold._webhook_delivery
    where thread_id = p_thread_id and webhook_id = w.id and settled_at is null order by no desc limit 1 for update;
    v_waits := found;
  end if;
  select coalesce(max(no), 0) + 1 into v_no from lanefold._webhook_delivery
  where thread_id = p_thread_id and webhook_id = w.id and settled_at is null;
  insert into lanefold._webhook_delivery (thread_id, tenant_id, id, webhook_id, no, type, payload, status, created_at, next_at)
  values (p_thread_id, w.tenant_id, v_id, w.id, v_no, p_type,
    jsonb_build_object('type', p_type, 'timestamp', v_at, 'data', p_data), 'pending', v_at, case when not v_waits then v_at end)
  on conflict (thread_id, id) do nothing;
  return found and not v_waits and w.failures = 0;
end $$;
