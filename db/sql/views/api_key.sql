-- The keys without their secrets. A rotated key has a row per secret, of which the newest is shown.
create or replace view lanefold.api_key as
select distinct on (k.id) k.id, k.name, k.allowed, k.created_by, k.created_at, k.expires_at,
       k.revoked_at, k.tenant_id
from lanefold._api_key k
order by k.id, k.created_at desc;
