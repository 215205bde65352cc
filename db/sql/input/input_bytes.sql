-- Bytes of the input of a run, {content, refs?}, before compression.
create or replace function lanefold._input_bytes(p_input jsonb)
returns int language sql stable parallel safe as $$
  select coalesce(pg_column_size(p_input -> 'content'), 0) + coalesce(pg_column_size(p_input -> 'refs'), 0);
$$;
