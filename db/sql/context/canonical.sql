-- The canonical JSON of a value according to RFC 8785, the input of every `context_hash`: keys in the order of their
-- UTF-16 code units, numbers as ECMAScript writes them, no spaces.
create or replace function lanefold._canonical(p jsonb)
returns text language plpgsql immutable as $$
declare
  v_text text;
begin
  case jsonb_typeof(p)
    when 'object' then
      select string_agg(to_json(k)::text || ':' || lanefold._canonical(v), ',' order by lanefold._utf16(k)) into v_text
      from jsonb_each(p) as e (k, v);
      return '{' || coalesce(v_text, '') || '}';
    when 'array' then
      select string_agg(lanefold._canonical(v), ',' order by n) into v_text
      from jsonb_array_elements(p) with ordinality as e (v, n);
      return '[' || coalesce(v_text, '') || ']';
    when 'number' then return lanefold._canonical_number(p::text);
    else return p::text;
  end case;
end $$;

-- The UTF-16 code units of a text, to sort by: a character beyond U+FFFF sorts before those from U+E000 on.
create or replace function lanefold._utf16(p text)
returns int[] language sql immutable as $$
  select case when p ~ '^[\x01-\x7f]*$' then array(select ascii(c) from unnest(string_to_array(p, null)) c)
    else array(
      select u from unnest(string_to_array(p, null)) with ordinality as x (c, n)
      cross join lateral unnest(case when ascii(c) < 65536 then array[ascii(c)]
        else array[55296 + (ascii(c) - 65536) / 1024, 56320 + (ascii(c) - 65536) % 1024] end) with ordinality as y (u, i)
      order by n, i) end;
$$;

-- A number as ECMAScript writes the nearest double: the shortest digits that parse back to it, with an exponent only
-- below 1e-6 and from 1e21 on.
create or replace function lanefold._canonical_number(p text)
returns text language plpgsql immutable as $$
declare
  v_short constant text := lanefold._shortest_digits(p::float8);
  v_sign constant text := case when left(v_short, 1) = '-' and p::float8 <> 0 then '-' else '' end;
  v_mantissa constant text := split_part(ltrim(v_short, '-'), 'e', 1);
  v_whole constant text := split_part(v_mantissa, '.', 1);
  v_fraction constant text := split_part(v_mantissa, '.', 2);
  v_digits text := v_whole || v_fraction;
  v_point int;  -- position of the decimal point, counted from the first digit that is not 0
begin
  if v_digits !~ '[1-9]' then
    return '0';
  end if;
  v_point := length(v_whole) + coalesce(nullif(split_part(v_short, 'e', 2), '')::int, 0)
    - (length(v_digits) - length(ltrim(v_digits, '0')));
  v_digits := trim('0' from v_digits);
  return v_sign || case
    when v_point between length(v_digits) and 21 then rpad(v_digits, v_point, '0')
    when v_point between 1 and 21 then left(v_digits, v_point) || '.' || substr(v_digits, v_point + 1)
    when v_point between -5 and 0 then '0.' || repeat('0', -v_point) || v_digits
    else left(v_digits, 1) || case when length(v_digits) > 1 then '.' || substr(v_digits, 2) else '' end
      || 'e' || case when v_point > 0 then '+' else '-' end || abs(v_point - 1)
  end;
end $$;

-- The shortest digits that parse back to a double. PostgreSQL searches strictly between the midpoints to the
-- neighbouring doubles. ECMAScript also accepts a midpoint that rounds to the double, as 36213595652796540 rounds to
-- 36213595652796544. A midpoint has fewer digits only from 2^53 to 1e40: it is an odd multiple of a power of two, with
-- at most 23 factors of 5.
create or replace function lanefold._shortest_digits(p float8)
returns text language plpgsql immutable as $$
declare
  v_text text := p::text;
  v_near constant numeric := p::text::numeric;
  v_unit numeric;
  v_shorter numeric;
  v_again boolean := abs(p) between 9007199254740992 and 1e40;
begin
  v_unit := ('1e' || (coalesce(nullif(split_part(v_text, 'e', 2), '')::int, 0)
    - length(split_part(split_part(v_text, 'e', 1), '.', 2))))::numeric;
  while v_again loop
    v_unit := v_unit * 10;
    select c into v_shorter from unnest(array[trunc(v_near / v_unit), trunc(v_near / v_unit) + sign(v_near)]) x (units),
      lateral (select units * v_unit as c) y
    where c::float8 = p order by abs(c - v_near) limit 1;
    v_again := found;
    if found then
      v_text := case when v_shorter < 0 then '-' else '' end || trunc(abs(v_shorter) / v_unit) || 'e' || round(log(v_unit));
    end if;
  end loop;
  return v_text;
end $$;
