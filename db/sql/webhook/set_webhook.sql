-- Sets an endpoint, or replaces what it is told. p: {url, types: [], agents: [], ordered, include_result, template?, by}. What is paused
-- stays paused. Audited. Returns its row without secrets; if it is new, with created: true and its secret. Raises LF014 if
-- the tenant has 50 of them; LF016.
create or replace function lanefold.set_webhook(p_tenant text, p_name text, p_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  -- a reference table takes no subqueries in its writes
  v_types constant text[] := array(select jsonb_array_elements_text(p -> 'types'));
  v_agents constant text[] := array(select jsonb_array_elements_text(p -> 'agents'));
  v_given constant text[] := array['url', 'types', 'agents', 'ordered', 'include_result', 'template'];
  v_secret constant text := lanefold._new_secret();
  o lanefold._webhook;
  w lanefold._webhook;
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  perform lanefold._check_id(p_name, 'webhook name');
  select * into o from lanefold._webhook where tenant_id = p_tenant and name = p_name and removed_at is null for update;
  if o.id is null then
    if (select count(*) from lanefold._webhook where tenant_id = p_tenant and removed_at is null) >= 50 then
      perform lanefold._fail('LF014', format('Tenant %s has 50 webhooks.', p_tenant), 'Nothing was written. Remove one first.');
    end if;
    insert into lanefold._webhook (tenant_id, id, name, version, created_at, updated_at, url, types, agents, ordered, include_result, template, secrets, updated_by)
    values (p_tenant, p_id, p_name, 1, v_at, v_at, p ->> 'url', v_types, v_agents, (p -> 'ordered')::boolean, (p -> 'include_result')::boolean,
      nullif(p -> 'template', 'null'), jsonb_build_array(jsonb_build_object('secret', v_secret)), p ->> 'by')
    on conflict (tenant_id, name) where removed_at is null do nothing returning * into w;
    if w.id is null then
      -- set by another session just now
      return lanefold.set_webhook(p_tenant, p_name, p_id, p);
    end if;
  elsif not exists (select from unnest(v_given) k where to_jsonb(o) -> k is distinct from coalesce(p -> k, 'null')) then
    return to_jsonb(o) - 'secrets';
  else
    if o.url is distinct from p ->> 'url' then
      -- what failed was another receiver
      o.failures := 0;
      o.failing_since := null;
    end if;
    update lanefold._webhook
    set version = version + 1, updated_at = v_at, updated_by = p ->> 'by', url = p ->> 'url', failures = o.failures, failing_since = o.failing_since,
        types = v_types, agents = v_agents,
        ordered = (p -> 'ordered')::boolean, include_result = (p -> 'include_result')::boolean, template = nullif(p -> 'template', 'null')
    where tenant_id = p_tenant and id = o.id returning * into w;
  end if;
  perform lanefold._changed_webhook('set', w, p ->> 'by',
    jsonb_strip_nulls(jsonb_build_object('old', lanefold._webhook_detail(o), 'new', lanefold._webhook_detail(w))));
  return to_jsonb(w) - 'secrets' || case when o.id is null then jsonb_build_object('created', true, 'secret', v_secret) else '{}' end;
end $$;

-- A secret of Standard Webhooks: 32 bytes made of 244 random bits. Made here, because servers log the parameters of
-- statements.
create or replace function lanefold._new_secret()
returns text language sql volatile
return 'whsec_' || encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64');

-- Removes an endpoint and forgets its URL, its template and its secrets; what was not delivered yet is not sent. Returns whether there was one.
create or replace function lanefold.remove_webhook(p_tenant text, p_name text, p_by text)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  w lanefold._webhook;
begin
  select * into w from lanefold._webhook where tenant_id = p_tenant and name = p_name and removed_at is null for update;
  if w.id is null then
    return false;
  end if;
  update lanefold._webhook set removed_at = v_at, updated_at = v_at, updated_by = p_by, url = '', template = null, secrets = '[]'
  where tenant_id = p_tenant and id = w.id;
  perform lanefold._changed_webhook('remove', w, p_by, jsonb_build_object('old', lanefold._webhook_detail(w)));
  return true;
end $$;

-- Gives an endpoint a new secret, and returns it. Previous ones, up to four, stay valid for p_keep_ms: all signatures are
-- sent. Returns null if there is no such endpoint.
create or replace function lanefold.rotate_webhook(p_tenant text, p_name text, p_keep_ms float8, p_by text)
returns text language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_until constant timestamptz := v_at + p_keep_ms * interval '1 ms';
  v_secret constant text := lanefold._new_secret();
  w lanefold._webhook;
  v_kept jsonb;
begin
  select * into w from lanefold._webhook where tenant_id = p_tenant and name = p_name and removed_at is null for update;
  if w.id is null then
    return null;
  end if;
  select coalesce(jsonb_agg(s || jsonb_build_object('expires_at', least((s ->> 'expires_at')::timestamptz, v_until)) order by n), '[]') into v_kept
  from jsonb_array_elements(w.secrets) with ordinality as x (s, n)
  where v_until > v_at and (not s ? 'expires_at' or (s ->> 'expires_at')::timestamptz > v_at);
  -- each adds a signature to the headers of a request
  v_kept := jsonb_build_array(jsonb_build_object('secret', v_secret)) || jsonb_path_query_array(v_kept, '$[0 to 3]');
  update lanefold._webhook set secrets = v_kept, version = version + 1, updated_at = v_at, updated_by = p_by
  where tenant_id = p_tenant and id = w.id;
  perform lanefold._changed_webhook('rotate', w, p_by, jsonb_build_object('keep_ms', p_keep_ms));
  return v_secret;
end $$;

-- Pauses an endpoint, or lets it continue with what was not delivered meanwhile. Returns whether there is one.
create or replace function lanefold.pause_webhook(p_tenant text, p_name text, p_paused boolean, p_by text)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  w lanefold._webhook;
begin
  select * into w from lanefold._webhook where tenant_id = p_tenant and name = p_name and removed_at is null for update;
  if w.id is null then
    return false;
  elsif (w.paused_at is not null) = p_paused then
    return true;
  end if;
  update lanefold._webhook
  set version = version + 1, updated_at = v_at, updated_by = p_by, paused_at = case when p_paused then v_at end,
      paused_reason = case when p_paused then 'manual' end, failures = 0, failing_since = null
  where tenant_id = p_tenant and id = w.id;
  perform lanefold._changed_webhook(case when p_paused then 'pause' else 'resume' end, w, p_by, '{}');
  return true;
end $$;

-- Counts how an attempt ended, of whatever delivery. Pauses an endpoint that is p_gone, and one whose attempts have all failed
-- for p_days, if they are p_failures or more.
create or replace function lanefold.count_attempt(p_tenant text, p_webhook_id text, p_delivered boolean, p_gone boolean, p_failures int, p_days float8)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_before constant timestamptz := v_at - p_days * interval '1 day';
  w lanefold._webhook;
begin
  if p_delivered then
    update lanefold._webhook set failures = 0, failing_since = null where tenant_id = p_tenant and id = p_webhook_id and failures > 0;
    return;
  end if;
  update lanefold._webhook set failures = failures + 1, failing_since = coalesce(failing_since, v_at)
  where tenant_id = p_tenant and id = p_webhook_id and removed_at is null and paused_at is null returning * into w;
  if w.id is not null and (p_gone or w.failures >= p_failures and w.failing_since <= v_before) then
    update lanefold._webhook
    set version = version + 1, updated_at = v_at, updated_by = 'lanefold', paused_at = v_at, paused_reason = case when p_gone then 'gone' else 'failures' end
    where tenant_id = p_tenant and id = p_webhook_id;
    perform lanefold._changed_webhook('pause', w, 'lanefold',
      jsonb_build_object('failures', w.failures, 'failing_since', w.failing_since, 'gone', p_gone));
  end if;
end $$;

-- Notes a test event for one endpoint, whatever types it wants. p_thread_id: /webhooks/<id>, no thread. Audited. Returns the id of its
-- delivery, or null if there is no such endpoint.
create or replace function lanefold.test_webhook(p_thread_id text, p_tenant text, p_webhook_id text, p_by text)
returns text language plpgsql as $$
declare
  v_key constant text := extract(epoch from lanefold._now())::text;
  w lanefold._webhook;
begin
  select * into w from lanefold._webhook where tenant_id = p_tenant and id = p_webhook_id and removed_at is null;
  if w.id is null then
    return null;
  end if;
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'webhooks.test', 'tenant_id', p_tenant,
    'detail', jsonb_build_object('name', w.name)));
  if lanefold._add_delivery(p_thread_id, w, 'webhook.test', v_key, jsonb_build_object('webhook', w.name)) then
    perform pg_notify('lanefold_webhooks', '');
  end if;
  return lanefold._delivery_id(w.id, 'webhook.test', v_key);
end $$;

-- Forgets an endpoint that was removed more than a day ago; the caller has deleted its deliveries. Until then, a transaction
-- that found it before its removal may commit another one, and no transaction lasts that long.
create or replace function lanefold.forget_webhook(p_tenant text, p_webhook_id text)
returns void language plpgsql as $$
declare
  v_before constant timestamptz := lanefold._now() - interval '1 day';
begin
  delete from lanefold._webhook where tenant_id = p_tenant and id = p_webhook_id and removed_at < v_before;
end $$;

-- Adds to the number of deliveries that an endpoint has not got because too many were waiting. Returns nothing.
create or replace function lanefold.count_dropped(p_tenant text, p_webhook_id text, p_count int)
returns void language plpgsql as $$
begin
  update lanefold._webhook set dropped = dropped + p_count where tenant_id = p_tenant and id = p_webhook_id;
end $$;

-- What the audit says about an endpoint: nothing secret, and of its URL, whose path and parameters may be secret or name a person,
-- only the beginning, because the audit is kept when the tenant is erased. Null for none.
create or replace function lanefold._webhook_detail(w lanefold._webhook)
returns jsonb language sql immutable as $$
  select case when w.id is not null then jsonb_build_object('origin', substring(w.url from '^(https?://[^/?#\\@\s]+)(?:[/?#]|$)'), 'types', w.types, 'agents', w.agents, 'ordered', w.ordered,
    'include_result', w.include_result, 'templated', w.template is not null) end;
$$;

-- Audits a change of an endpoint, and wakes the workers.
create or replace function lanefold._changed_webhook(p_action text, w lanefold._webhook, p_by text, p_detail jsonb)
returns void language plpgsql as $$
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'webhooks.' || p_action, 'tenant_id', w.tenant_id,
    'detail', jsonb_build_object('name', w.name) || p_detail));
  perform pg_notify('lanefold_webhooks', '');
end $$;
