-- Raises LF016 unless an id is 1 to 128 characters of [A-Za-z0-9._:@-], the first alphanumeric. Called where ids enter
-- the database.
create or replace function lanefold._check_id(p_id text, p_what text)
returns void language plpgsql immutable as $$
begin
  if p_id is null or not lanefold._is_id(p_id) then
    perform lanefold._fail('LF016', format('The %s %s is not a valid id.', p_what, coalesce(p_id, '(none)')),
      'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.');
  end if;
end $$;
