-- Why a value of a caller may not enter the log, or null, as in "has …". Workers and clients of other languages read
-- numbers as doubles, so a number that no double holds would reach them as another one. Everything that walks a value
-- relies on its depth: 200 levels, and 16 of what carries it.
create or replace function lanefold._content_problem(p_value jsonb)
returns text language sql immutable parallel safe as $$
  select coalesce(lanefold._depth_problem(p_value),
    (select format('the number %s, which no double holds: write it as a string', left(n #>> '{}', 60))
     from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "number")') n
     where not lanefold._is_exact(n::numeric) limit 1));
$$;

create or replace function lanefold._depth_problem(p_value jsonb)
returns text language sql immutable parallel safe as $$
  -- each level takes at least eight bytes
  select case when pg_column_size(p_value) > 1600
      and jsonb_path_exists(p_value, 'strict $.**{216} ? (@.type() == "object" || @.type() == "array")')
    then 'more than 216 levels of nesting' end;
$$;

-- Raises LF014 for an argument that is nested too deep; p_what names it in the error.
create or replace function lanefold._check_depth(p_value jsonb, p_what text)
returns void language plpgsql immutable as $$
begin
  if lanefold._depth_problem(p_value) is not null then
    perform lanefold._fail('LF014', format('%s has %s.', p_what, lanefold._depth_problem(p_value)), 'Nothing was written. Send less nested data.');
  end if;
end $$;

-- Whether ECMAScript writes the double nearest to a number as the same number.
create or replace function lanefold._is_exact(p numeric)
returns boolean language sql immutable parallel safe as $$
  select case
    when p = 0 or abs(p) < 1e15 and trunc(p) = p then true
    when abs(p) between 4.95e-324 and 1.7976931348623157e308 then lanefold._shortest_digits(p::float8)::numeric = p
    else false
  end;
$$;
