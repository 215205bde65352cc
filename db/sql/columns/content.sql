comment on column lanefold.content.thread_id is 'the thread; first part of the key';
comment on column lanefold.content.id is '`c_` and the first 32 hex digits of the SHA-256 of the text; second part of the key';
comment on column lanefold.content.home_thread_id is 'of a fork: the thread that stores the text; null if this thread stores the text';
comment on column lanefold.content.chars is 'length in characters (code points)';
comment on column lanefold.content.bytes is 'length in bytes, as UTF-8';
comment on column lanefold.content.text is 'the text; null if another thread stores it';
comment on column lanefold.content.created_at is 'when the text was stored';
comment on column lanefold.content.tenant_id is 'the tenant of the thread';
