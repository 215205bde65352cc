-- Stores an API key, by the hash of its secret. p: {id, name, allowed, created_by, tenant_id?, expires_in_ms?}. Audited.
create or replace function lanefold.create_key(p_hash bytea, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  insert into lanefold._api_key (id, hash, name, allowed, tenant_id, created_by, created_at, expires_at)
  values (p ->> 'id', p_hash, p ->> 'name', p -> 'allowed', p ->> 'tenant_id', p ->> 'created_by', v_at,
    v_at + (p ->> 'expires_in_ms')::float8 * interval '1 ms');
  perform lanefold._changed_key('create', p ->> 'created_by', p ->> 'tenant_id', jsonb_build_object('key', p -> 'id', 'name', p -> 'name',
    'scopes', (select string_agg(s, ' ' order by n) from jsonb_array_elements_text(p -> 'allowed' -> 'scopes') with ordinality as x (s, n))));
end $$;

-- Audits a change of a key.
create or replace function lanefold._changed_key(p_action text, p_by text, p_tenant text, p_detail jsonb)
returns void language plpgsql as $$
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'keys.' || p_action, 'tenant_id', p_tenant, 'detail', p_detail));
end $$;
