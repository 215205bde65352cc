-- Raises a SQLSTATE of class LF. The library maps these to typed errors in src/database/postgres/errors.ts; README.md lists
-- them.
create or replace function lanefold._fail(p_state text, p_message text, p_hint text default null)
returns void language plpgsql as $$
begin
  raise exception using errcode = p_state, message = p_message, hint = coalesce(p_hint, '');
end $$;
