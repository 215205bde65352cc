-- Why refs or metadata of a caller may not be written, or null. They must be an object of up to 64 KiB, because every
-- read of a message or thread returns them, without what _content_problem rejects. p_name names the value in the error.
create or replace function lanefold._small_json_problem(p_value jsonb, p_name text)
returns text language sql immutable parallel safe as $$
  select case
    when coalesce(jsonb_typeof(p_value), 'null') not in ('object', 'null') then p_name || ' that are not an object'
    -- the stored size is checked first, because a short number such as 1e9999 has a long text
    when pg_column_size(p_value) > 262144 then p_name || ' of more than 65536 bytes'
    when octet_length(p_value::text) > 65536 then p_name || ' of more than 65536 bytes'
    when lanefold._content_problem(p_value) is not null then p_name || ' with ' || lanefold._content_problem(p_value)
  end;
$$;
