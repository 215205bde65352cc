-- Whole milliseconds from one time to a later one, rounded up.
create or replace function lanefold._ms_between(p_from timestamptz, p_to timestamptz)
returns bigint language sql immutable as $$
  select ceil(extract(epoch from p_to - p_from) * 1000)::bigint
$$;
