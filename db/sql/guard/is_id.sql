-- Whether a text is an id: see _check_id. The length is checked separately, because {0,127} in the expression costs
-- twenty times as much.
create or replace function lanefold._is_id(p_id text)
returns boolean language sql immutable parallel safe
return p_id ~ '^[A-Za-z0-9][A-Za-z0-9._:@-]*$' and length(p_id) <= 128;
