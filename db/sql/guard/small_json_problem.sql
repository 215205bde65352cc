-- What keeps refs or metadata of a caller from being written, or null: they are an object of up to 64 KiB. Messages and threads carry
-- them wherever they are read, so they are small. p_name says what they are.
create or replace function lanefold._small_json_problem(p_value jsonb, p_name text)
returns text language sql immutable parallel safe as $$
  select case
    when coalesce(jsonb_typeof(p_value), 'null') not in ('object', 'null') then p_name || ' that are not an object'
    -- as stored first: a short number such as 1e9999 has a long text
    when pg_column_size(p_value) > 262144 then p_name || ' of more than 65536 bytes'
    when octet_length(p_value::text) > 65536 then p_name || ' of more than 65536 bytes'
  end;
$$;
