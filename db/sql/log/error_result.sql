-- The content of a tool message that reports an error, byte for byte as the worker writes it: same key order, no
-- spaces.
create or replace function lanefold._error_result(p_type text, p_message text)
returns text language sql immutable as $$
  select format('{"ok":false,"error":{"type":%s,"message":%s,"retryable":false}}', to_json(p_type), to_json(p_message));
$$;
