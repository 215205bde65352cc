-- Revokes every secret of a key at once. Audited, unless it was revoked before. Returns false if the key does not exist.
create or replace function lanefold.revoke_key(p_id text, p_by text)
returns boolean language plpgsql as $$
declare
  v_tenant text;
begin
  select tenant_id into v_tenant from lanefold._api_key where id = p_id limit 1;
  if not found then
    return false;
  end if;
  update lanefold._api_key set revoked_at = lanefold._now() where id = p_id and revoked_at is null;
  if found then
    perform lanefold._changed_key('revoke', p_by, v_tenant, jsonb_build_object('key', p_id));
  end if;
  return true;
end $$;
