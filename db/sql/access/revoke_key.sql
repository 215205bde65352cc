-- Revokes every secret of a key at once. Returns false if the key does not exist.
create or replace function lanefold.revoke_key(p_id text)
returns boolean language plpgsql as $$
begin
  update lanefold._api_key set revoked_at = lanefold._now() where id = p_id and revoked_at is null;
  return found or exists (select from lanefold._api_key where id = p_id);
end $$;
