-- Endpoints that are neither paused nor removed, with how many attempts may begin for each, beside those in flight, and the
-- oldest deliveries that are due, as many as may begin. p_each: how many may be in flight, p_failing: of one whose last
-- attempt failed. p_only: ids of the endpoints to look at, besides those that want order; null: all. due: [{thread_id, id,
-- attempt, since: in seconds}].
create or replace function lanefold.open_endpoints(p_each int, p_failing int, p_only jsonb)
returns table (id text, failing boolean, free int, due jsonb) language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_only constant text[] := case when p_only is not null then array(select jsonb_array_elements_text(p_only)) end;
begin
  -- in the order of the index: workers that look at the same moment choose the same rows
  return query
  select w.id, w.failures > 0, f.free::int, coalesce(d.due, '[]')
  from lanefold._webhook w cross join lateral (
    select greatest(0, case when w.failures > 0 then p_failing else p_each end - count(*)) as free
    from (select from lanefold._webhook_delivery o
      -- not by the index of what is due, which has all that is tried again later
      where o.webhook_id = w.id and o.in_flight and (o.next_at > v_at) is true limit p_each) i) f cross join lateral (
    select jsonb_agg(jsonb_build_object('thread_id', r.thread_id, 'id', r.id, 'attempt', r.attempts + 1, 'since', extract(epoch from r.next_at))) as due
    from (select o.thread_id, o.id, o.attempts, o.next_at from lanefold._webhook_delivery o
      where o.webhook_id = w.id and o.next_at <= v_at order by o.next_at limit f.free) r) d
  where w.paused_at is null and w.removed_at is null and (v_only is null or w.ordered or w.id = any (v_only));
end $$;

-- Takes an event out of the outbox: each of its endpoints gets a delivery. The first attempts for p_begin, ids of endpoints,
-- begin at once, unless an endpoint was paused meanwhile or has begun to fail; should the worker die, another attempt begins
-- after p_lease_ms. The other deliveries are due. Returns {payload: the body, as it is for endpoints that get results,
-- begun: [_endpoint_of, and id, full: whether it gets the result]}, or null if another worker has taken the event.
create or replace function lanefold.spread_event(p_thread_id text, p_type text, p_key text, p_begin jsonb, p_lease_ms int)
returns jsonb language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_lease_ms * interval '1 ms';
  v_begin constant text[] := array(select jsonb_array_elements_text(p_begin));
  e lanefold._webhook_event;
  v_plain jsonb;
  v_webhooks text[];
  v_ids text[];
  v_begun boolean[];
  v_last jsonb;  -- the highest pending number of each endpoint
  v_new text[];
begin
  perform lanefold._may_lose_commit();
  select * into e from lanefold._webhook_event where thread_id = p_thread_id and type = p_type and key = p_key for update skip locked;
  if e.key is null then
    return null;
  end if;
  delete from lanefold._webhook_event where thread_id = p_thread_id and type = p_type and key = p_key;
  v_plain := jsonb_set(e.payload, '{data}', lanefold._without_result(e.payload -> 'data'));
  select array_agg(w.id), array_agg(lanefold._delivery_id(w.id, p_type, p_key)),
    array_agg(w.id = any (v_begin) and w.paused_at is null and w.failures = 0)
  into v_webhooks, v_ids, v_begun
  from lanefold._webhook w where w.tenant_id = e.tenant_id and w.id = any (e.webhook_ids) and w.removed_at is null;
  -- by the index of the thread, whatever else waits for the endpoint
  select jsonb_object_agg(x.webhook_id, l.no) into v_last from unnest(v_webhooks) as x (webhook_id) cross join lateral (
    select no from lanefold._webhook_delivery
    where thread_id = p_thread_id and webhook_id = x.webhook_id and settled_at is null order by no desc limit 1) l;
  insert into lanefold._webhook_delivery
    (thread_id, tenant_id, id, webhook_id, no, type, payload, status, created_at, next_at, attempts, attempted_at, in_flight)
  select p_thread_id, e.tenant_id, x.id, x.webhook_id, coalesce((v_last ->> x.webhook_id)::bigint, 0) + 1, p_type,
    case when x.webhook_id = any (e.result_ids) then e.payload else v_plain end, 'pending', e.created_at,
    case when x.begun then v_until else e.created_at end, x.begun::int, case when x.begun then v_at end, x.begun
  from unnest(v_webhooks, v_ids, v_begun) as x (webhook_id, id, begun)
  on conflict (thread_id, id) do nothing;
  -- an event that was noted again has its deliveries
  select array_agg(webhook_id) into v_new from lanefold._webhook_delivery where thread_id = p_thread_id and id = any (v_ids) and attempted_at = v_at;
  return jsonb_build_object('payload', e.payload, 'begun', (
    select jsonb_agg(lanefold._endpoint_of(w.id, w.tenant_id, w.url, w.failures, w.secrets, w.template, v_at)
      || jsonb_build_object('id', v_ids[array_position(v_webhooks, w.id)], 'full', w.id = any (e.result_ids)))
    -- it may have been removed since, with its secrets
    from lanefold._webhook w where w.tenant_id = e.tenant_id and w.id = any (v_new) and w.removed_at is null));
end $$;

-- Begins attempts of deliveries of a thread that are due. p: [{id, attempt: its number, failing: whether the endpoint failed
-- when they were found}]. Should the worker die, others begin after p_lease_ms. Returns {begun: [_endpoint_of, and id,
-- attempt, nth: without the attempts that do not count, payload], locked: [id] of those that another transaction holds,
-- unless p_waits for it}. Leaves out those that another worker has begun or that are settled, and those of an endpoint that
-- was removed, paused or has begun to fail meanwhile: what hangs must not take the place of others.
create or replace function lanefold.take_deliveries(p_thread_id text, p jsonb, p_lease_ms int, p_waits boolean)
returns jsonb language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_lease_ms * interval '1 ms';
  v_given constant text[] := array(select g ->> 'id' from jsonb_array_elements(p) g);
  v_held constant text[] := lanefold._hold_deliveries(p_thread_id, v_given, p_waits);
  v_ids text[];
begin
  perform lanefold._may_lose_commit();
  select array_agg(d.id) into v_ids
  from lanefold._webhook_delivery d
  join jsonb_to_recordset(p) as g (id text, attempt int, failing boolean) on g.id = d.id
  join lanefold._webhook w on w.tenant_id = d.tenant_id and w.id = d.webhook_id
  where d.thread_id = p_thread_id and d.id = any (v_held) and d.status = 'pending' and d.attempts = g.attempt - 1 and d.next_at <= v_at
    and w.removed_at is null and w.paused_at is null and (w.failures = 0 or g.failing);
  update lanefold._webhook_delivery
  set attempts = attempts + 1, attempted_at = v_at, in_flight = true, next_at = v_until, error = null
  where thread_id = p_thread_id and id = any (v_ids);
  return jsonb_build_object('locked', array(select unnest(v_given) except select unnest(v_held)), 'begun', (
    select jsonb_agg(lanefold._endpoint_of(w.id, w.tenant_id, w.url, w.failures, w.secrets, w.template, v_at)
      || jsonb_build_object('id', d.id, 'attempt', d.attempts, 'nth', d.attempts - d.earlier, 'payload', d.payload))
    from lanefold._webhook_delivery d join lanefold._webhook w on w.tenant_id = d.tenant_id and w.id = d.webhook_id
    where d.thread_id = p_thread_id and d.id = any (v_ids) and w.removed_at is null));
end $$;

-- Where an attempt goes, and what it is signed with: {webhook_id, tenant_id, url, secrets: [secret], failures, template}. Takes columns,
-- because on Citus the row of a node's copy of the table has a type of its own.
create or replace function lanefold._endpoint_of(p_id text, p_tenant text, p_url text, p_failures int, p_secrets jsonb, p_template jsonb, p_at timestamptz)
returns jsonb language sql stable as $$
  select jsonb_build_object('webhook_id', p_id, 'tenant_id', p_tenant, 'url', p_url, 'failures', p_failures, 'template', p_template, 'secrets', (
    select jsonb_agg(s -> 'secret') from jsonb_array_elements(p_secrets) s
    where not s ? 'expires_at' or (s ->> 'expires_at')::timestamptz > p_at));
$$;

-- Records how attempts of deliveries of a thread ended. p: [{id, attempt: its number, released?: its worker stops, so another
-- begins the next one at once, and this one counts neither as an attempt nor as a failure; else delivered: boolean,
-- retry_ms?: until the next attempt, if there is one, status_code?, duration_ms, error?: {code, message}, answer?}]. The
-- next delivery of the thread that waits for one of them is due once that is settled. Leaves out those of which another
-- attempt has begun. Returns {locked: [id] of those that another transaction holds, unless p_waits for it, next: whether one that
-- waited for them is due}.
create or replace function lanefold.settle_deliveries(p_thread_id text, p jsonb, p_waits boolean)
returns jsonb language plpgsql
-- a session keeps its plan while the tables grow, so the plan must suit tables of any size
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_given constant text[] := array(select g ->> 'id' from jsonb_array_elements(p) g);
  v_held constant text[] := lanefold._hold_deliveries(p_thread_id, v_given, p_waits);
  v_next timestamptz[];
  v_statuses text[];
  v_waiting text[];
  v_webhook text;
begin
  perform lanefold._may_lose_commit();
  select array_agg(v_at + coalesce((g ->> 'retry_ms')::float8, 0) * interval '1 ms' order by n),
    array_agg(case when g -> 'delivered' = 'true' then 'delivered' when g ? 'retry_ms' or g ? 'released' then 'pending' else 'failed' end order by n)
  into v_next, v_statuses
  from jsonb_array_elements(p) with ordinality as x (g, n);
  update lanefold._webhook_delivery d
  set status = s.status, in_flight = false, next_at = case when s.status = 'pending' then s.next_at end,
      settled_at = case when s.status <> 'pending' then v_at end, earlier = d.earlier + case when s.g ? 'released' then 1 else 0 end,
      status_code = (s.g ->> 'status_code')::int, duration_ms = (s.g ->> 'duration_ms')::int,
      error = nullif(s.g -> 'error', 'null'), answer = s.g ->> 'answer'
  from rows from (jsonb_array_elements(p), unnest(v_statuses), unnest(v_next)) as s (g, status, next_at)
  where d.thread_id = p_thread_id and d.id = s.g ->> 'id' and d.id = any (v_held) and d.status = 'pending' and d.attempts = (s.g ->> 'attempt')::int;
  select array_agg(distinct webhook_id) into v_waiting from lanefold._webhook_delivery
  where thread_id = p_thread_id and settled_at is null and next_at is null
    and webhook_id in (select webhook_id from lanefold._webhook_delivery where thread_id = p_thread_id and id = any (v_held) and status <> 'pending');
  if v_waiting is not null then
    foreach v_webhook in array v_waiting loop
      perform lanefold._next_delivery(p_thread_id, v_webhook, v_at);
    end loop;
  end if;
  return jsonb_build_object('locked', array(select unnest(v_given) except select unnest(v_held)), 'next', v_waiting is not null);
end $$;

-- Locks deliveries of a thread, those of endpoints that want order first and in the order in which _note_event does. Returns
-- the ids of those it holds. Without p_waits, it leaves out those that another transaction holds: a statement for many threads
-- must not wait for one of them while it holds others.
create or replace function lanefold._hold_deliveries(p_thread_id text, p_ids text[], p_waits boolean)
returns text[] language plpgsql as $$
declare
  v_ordered constant text[] := array(
    select distinct d.webhook_id from lanefold._webhook_delivery d join lanefold._webhook w on w.tenant_id = d.tenant_id and w.id = d.webhook_id
    where d.thread_id = p_thread_id and d.id = any (p_ids) and (w.ordered or exists (
      -- the endpoint wanted order before
      select from lanefold._webhook_delivery o
      where o.thread_id = p_thread_id and o.webhook_id = d.webhook_id and o.settled_at is null and o.next_at is null))
    order by 1);
  v_webhook text;
  v_own text[];
  v_others text[] := p_ids;
  v_held text[] := array[]::text[];
begin
  foreach v_webhook in array v_ordered loop
    v_own := array(select id from lanefold._webhook_delivery where thread_id = p_thread_id and webhook_id = v_webhook and id = any (p_ids));
    v_others := array(select unnest(v_others) except select unnest(v_own));
    if lanefold._hold_first_delivery(p_thread_id, v_webhook, p_waits) then
      v_held := v_held || lanefold._hold_rows(p_thread_id, v_own, p_waits);
    end if;
  end loop;
  return v_held || lanefold._hold_rows(p_thread_id, v_others, p_waits);
end $$;

-- Locks the first unsettled delivery of a thread and endpoint. Two deliveries can be under way at once, after a redelivery; of two
-- that end at once, each would take the other for unsettled, and leave the one waiting that follows them. Holding the first,
-- they end one after the other. Returns false if another transaction holds it, unless p_waits.
create or replace function lanefold._hold_first_delivery(p_thread_id text, p_webhook_id text, p_waits boolean)
returns boolean language plpgsql as $$
declare
  v_first text;
begin
  loop
    select id into v_first from lanefold._webhook_delivery
    where thread_id = p_thread_id and webhook_id = p_webhook_id and settled_at is null order by no limit 1;
    if not found then
      return true;
    elsif p_waits then
      perform from lanefold._webhook_delivery where thread_id = p_thread_id and id = v_first and settled_at is null for update;
    else
      perform from lanefold._webhook_delivery where thread_id = p_thread_id and id = v_first and settled_at is null for update skip locked;
    end if;
    -- not found while it waits: the transaction that held it has settled it
    exit when found or not p_waits;
  end loop;
  return found;
end $$;

-- Locks these deliveries of a thread, as _hold_deliveries does.
create or replace function lanefold._hold_rows(p_thread_id text, p_ids text[], p_waits boolean)
returns text[] language plpgsql as $$
begin
  if p_waits then
    return array(select h.id from (
      select id from lanefold._webhook_delivery where thread_id = p_thread_id and id = any (p_ids) order by webhook_id, no for update) h);
  end if;
  return array(select h.id from (
    select id from lanefold._webhook_delivery where thread_id = p_thread_id and id = any (p_ids) order by webhook_id, no for update skip locked) h);
end $$;

-- Lets the commit of this transaction return before it is on disk: a server that fails just then forgets that an event was
-- sent, and it is sent again under the same id, as after any crash.
create or replace function lanefold._may_lose_commit()
returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
end $$;

-- Makes the first pending delivery of a thread and endpoint due, if it has waited for an earlier one.
create or replace function lanefold._next_delivery(p_thread_id text, p_webhook_id text, p_at timestamptz)
returns void language plpgsql as $$
begin
  update lanefold._webhook_delivery
  set next_at = p_at
  where thread_id = p_thread_id and webhook_id = p_webhook_id and next_at is null and settled_at is null and no = (
    select min(n.no) from lanefold._webhook_delivery n
    where n.thread_id = p_thread_id and n.webhook_id = p_webhook_id and n.settled_at is null);
end $$;

-- Sends a delivery again, or a pending one at once. Its webhook-id stays. Audited. Returns false if there is none of this
-- endpoint, or if it waits for an earlier one or is being sent.
create or replace function lanefold.redeliver(p_thread_id text, p_id text, p_webhook_id text, p_by text)
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
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'webhooks.redeliver', 'tenant_id', d.tenant_id,
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
