-- Raises LF014 for a value that _small_json_problem rejects. p_owner names the owner of the value in the error.
create or replace function lanefold._check_small_json(p_value jsonb, p_name text, p_owner text)
returns void language plpgsql immutable as $$
declare
  v_problem constant text := lanefold._small_json_problem(p_value, p_name);
begin
  if v_problem is not null then
    perform lanefold._fail('LF014', format('%s has %s.', p_owner, v_problem),
      'Nothing was written. Keep it small, and put large data into the content or an entry.');
  end if;
end $$;
