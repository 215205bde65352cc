-- Hands a due delivery to the queue: it is in flight for p_again_ms, and after that any worker may do so again, should the
-- job be lost. p_attempt: the next attempt. Returns whether the caller adds the job.
create or replace function lanefold.queue_delivery(p_thread_id text, p_id text, p_attempt int, p_again_ms int)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_again constant timestamptz := v_at + p_again_ms * interval '1 ms';
begin
  perform 1 from lanefold._webhook_delivery
  where thread_id = p_thread_id and id = p_id and status = 'pending' and attempts = p_attempt - 1 and next_at <= v_at for update skip locked;
  if not found then
    return false;
  end if;
  update lanefold._webhook_delivery set in_flight = true, next_at = v_again where thread_id = p_thread_id and id = p_id;
  return true;
end $$;

-- Begins attempt p_attempt of a delivery. Should the worker die, another attempt begins after p_lease_ms. p_failing: it was
-- handed to the queue while its endpoint failed. Returns {url, name, tenant_id, webhook_id, secrets: [secret], failures: of
-- the endpoint, payload, nth: the attempt, without those that do not count}, or null if another worker has begun it, the
-- delivery is settled, or its endpoint is removed. Also null, and soon due again, if the endpoint was paused meanwhile or
-- has begun to fail: the jobs of an endpoint that hangs must not hold up those of others.
create or replace function lanefold.take_delivery(p_thread_id text, p_id text, p_attempt int, p_lease_ms int, p_failing boolean)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_lease_ms * interval '1 ms';
  -- the queue would ignore another job of this attempt until it has removed this one
  v_back constant timestamptz := v_at + interval '1 second';
  d lanefold._webhook_delivery;
  w lanefold._webhook;
begin
  -- waits, because _add_delivery may hold the row for a moment
  select * into d from lanefold._webhook_delivery where thread_id = p_thread_id and id = p_id for update;
  if d.id is null or d.status <> 'pending' or d.attempts <> p_attempt - 1 or d.next_at is null then
    return null;
  end if;
  select * into w from lanefold._webhook where tenant_id = d.tenant_id and id = d.webhook_id;
  if w.id is null or w.removed_at is not null then
    return null;
  elsif w.paused_at is not null or w.failures > 0 and not p_failing then
    update lanefold._webhook_delivery set in_flight = false, next_at = v_back where thread_id = p_thread_id and id = p_id;
    return null;
  end if;
  update lanefold._webhook_delivery
  set attempts = p_attempt, attempted_at = v_at, in_flight = true, next_at = v_until, error = null
  where thread_id = p_thread_id and id = p_id;
  return jsonb_build_object('url', w.url, 'name', w.name, 'tenant_id', w.tenant_id, 'webhook_id', w.id, 'failures', w.failures,
    'payload', d.payload, 'nth', p_attempt - d.earlier, 'secrets', (
      select jsonb_agg(s -> 'secret') from jsonb_array_elements(w.secrets) s
      where not s ? 'expires_at' or (s ->> 'expires_at')::timestamptz > v_at));
end $$;

-- Records how attempt p_attempt ended. p: {delivered: boolean, retry_ms?: until the next attempt, if there is one,
-- status_code?, duration_ms, error?: {code, message}, answer?}. The next delivery of the thread that waits for this one is
-- due once it is settled. Returns false if another attempt has begun meanwhile.
create or replace function lanefold.settle_delivery(p_thread_id text, p_id text, p_attempt int, p jsonb)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_retry_at constant timestamptz := v_at + (p ->> 'retry_ms')::float8 * interval '1 ms';
  v_status constant text := case when (p -> 'delivered')::boolean then 'delivered' when v_retry_at is null then 'failed' else 'pending' end;
  d lanefold._webhook_delivery;
begin
  update lanefold._webhook_delivery
  set status = v_status, in_flight = false, next_at = case when v_status = 'pending' then v_retry_at end,
      settled_at = case when v_status <> 'pending' then v_at end,
      status_code = (p ->> 'status_code')::int, duration_ms = (p ->> 'duration_ms')::int, error = nullif(p -> 'error', 'null'), answer = p ->> 'answer'
  where thread_id = p_thread_id and id = p_id and status = 'pending' and attempts = p_attempt
  returning * into d;
  if d.id is null then
    return false;
  end if;
  if v_status <> 'pending' then
    perform lanefold._next_delivery(p_thread_id, d.webhook_id, v_at);
  end if;
  return true;
end $$;

-- Makes the first pending delivery of a thread and endpoint due, if it has waited for an earlier one.
create or replace function lanefold._next_delivery(p_thread_id text, p_webhook_id text, p_at timestamptz)
returns void language plpgsql as $$
begin
  update lanefold._webhook_delivery
  set next_at = p_at
  where thread_id = p_thread_id and webhook_id = p_webhook_id and next_at is null and status = 'pending' and no = (
    select min(n.no) from lanefold._webhook_delivery n
    where n.thread_id = p_thread_id and n.webhook_id = p_webhook_id and n.status = 'pending');
end $$;

-- Ends attempt p_attempt without an outcome, because its worker stops: another worker begins the next one at once, and this
-- one counts neither as an attempt nor as a failure.
create or replace function lanefold.release_delivery(p_thread_id text, p_id text, p_attempt int)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  update lanefold._webhook_delivery
  set in_flight = false, next_at = v_at, earlier = earlier + 1
  where thread_id = p_thread_id and id = p_id and status = 'pending' and attempts = p_attempt;
end $$;

-- Sends a delivery again, or a pending one at once. Its webhook-id stays. Audited. Returns false if there is none of this
-- endpoint, or if it waits for an earlier one, is in the queue or is being sent.
create or replace function lanefold.replay_delivery(p_thread_id text, p_id text, p_webhook_id text, p_by text)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  d lanefold._webhook_delivery;
begin
  update lanefold._webhook_delivery
  set status = 'pending', next_at = v_at, settled_at = null, earlier = attempts
  where thread_id = p_thread_id and id = p_id and webhook_id = p_webhook_id and (status <> 'pending' or next_at > v_at and error is not null and not in_flight)
  returning * into d;
  if d.id is null then
    return false;
  end if;
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'webhooks.replay', 'tenant_id', d.tenant_id,
    'detail', jsonb_build_object('id', p_id, 'type', d.type, 'thread_id', p_thread_id)));
  perform pg_notify('lanefold_webhooks', '');
  return true;
end $$;

-- Gives up deliveries of a thread and endpoint, except those in flight. Returns how many.
create or replace function lanefold.give_up_deliveries(p_thread_id text, p_webhook_id text, p_ids jsonb)
returns int language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_ids constant text[] := array(select jsonb_array_elements_text(p_ids));
  v_dropped int;
begin
  update lanefold._webhook_delivery
  set status = 'dropped', settled_at = v_at, next_at = null, in_flight = false
  where thread_id = p_thread_id and webhook_id = p_webhook_id and id = any (v_ids) and status = 'pending' and (not in_flight or next_at <= v_at);
  get diagnostics v_dropped = row_count;
  perform lanefold._next_delivery(p_thread_id, p_webhook_id, v_at);
  return v_dropped;
end $$;

-- Deletes deliveries of a thread. Returns how many.
create or replace function lanefold.drop_deliveries(p_thread_id text, p_ids jsonb)
returns int language plpgsql as $$
declare
  v_ids constant text[] := array(select jsonb_array_elements_text(p_ids));
  v_dropped int;
begin
  delete from lanefold._webhook_delivery where thread_id = p_thread_id and id = any (v_ids);
  get diagnostics v_dropped = row_count;
  return v_dropped;
end $$;
