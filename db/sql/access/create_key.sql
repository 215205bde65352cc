-- Stores an API key, or another secret of an existing key, by the hash of its secret. p: {id, name, allowed,
-- created_by, tenant_id?, expires_at?}.
create or replace function lanefold.create_key(p_hash bytea, p jsonb)
returns void language plpgsql as $$
begin
  insert into lanefold._api_key (id, hash, name, allowed, tenant_id, created_by, created_at, expires_at)
  values (p ->> 'id', p_hash, p ->> 'name', p -> 'allowed', p ->> 'tenant_id', p ->> 'created_by', lanefold._now(),
    (p ->> 'expires_at')::timestamptz);
end $$;
