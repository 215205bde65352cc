-- The key from which processes derive the ids of a tenant's threads, runs and cases that have no id of their own, only a
-- name such as a request id (`DerivedIds` in src/base/checks/ids.ts). A caller that knows a name therefore knows no id, and the ids
-- of one tenant say nothing of those of another. The key is that of the tenant as long as this database or a copy of it
-- lives, so that a repeated request finds its thread. A session that acts for one tenant gets the key of no other one;
-- raises LF016 for it, as for a malformed id. Readers may not execute it, and no role but the owner reads the secret.
create or replace function lanefold.name_key(p_tenant_id text)
returns text language plpgsql as $$
declare
  v_scope constant text := lanefold._scope();
  v_secret bytea;
begin
  perform lanefold._check_id(p_tenant_id, 'tenant id');
  -- an API that has named no tenant yet may name any
  if coalesce(v_scope, case when lanefold._chooses_tenant() then '*' end, '') not in ('*', p_tenant_id) then
    perform lanefold._fail('LF016', format('This session does not act for tenant %s.', p_tenant_id), 'Name the tenant of the session.');
  end if;
  select s.value into strict v_secret from lanefold._secret s where s.name = 'names';
  -- twice, as HMAC: from the hash of a text alone, that of a longer text could be computed
  return encode(sha256(v_secret || sha256(v_secret || convert_to(p_tenant_id, 'UTF8'))), 'hex');
end $$;
