comment on column lanefold.api_key.id is 'the key of the row, and the id of the API key';
comment on column lanefold.api_key.name is 'what the API key is for';
comment on column lanefold.api_key.allowed is '`{scopes, agents?, thread_prefix?, limits?}`';
comment on column lanefold.api_key.created_by is 'who created the newest secret';
comment on column lanefold.api_key.created_at is 'when the newest secret was created';
comment on column lanefold.api_key.expires_at is 'when the API key expires; null: never';
comment on column lanefold.api_key.revoked_at is 'when the API key was revoked; null: never';
comment on column lanefold.api_key.tenant_id is 'the tenant that the API key is bound to; null: all tenants';
