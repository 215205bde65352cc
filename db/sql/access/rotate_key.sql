-- Adds a secret to a key, by its hash. The earlier secrets expire in p_overlap_ms. Audited. Returns false if the key
-- does not exist or was revoked.
create or replace function lanefold.rotate_key(p_id text, p_hash bytea, p_created_by text, p_overlap_ms float8)
returns boolean language plpgsql as $$
declare
  k lanefold._api_key;
  v_at constant timestamptz := lanefold._now();
begin
  select * into k from lanefold._api_key where id = p_id and revoked_at is null order by created_at desc limit 1 for update;
  if k.id is null then
    return false;
  end if;
  update lanefold._api_key set expires_at = least(expires_at, v_at + p_overlap_ms * interval '1 ms')
  where id = p_id and revoked_at is null;
  insert into lanefold._api_key (id, hash, name, allowed, tenant_id, created_by, created_at, expires_at)
  values (p_id, p_hash, k.name, k.allowed, k.tenant_id, p_created_by, v_at, k.expires_at);
  perform lanefold._changed_key('rotate', p_created_by, k.tenant_id, jsonb_build_object('key', p_id));
  return true;
end $$;
