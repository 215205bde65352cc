-- Whether only APIs call a function: one that hands out a secret of an endpoint, which workers get only for the attempts that
-- they begin.
create or replace function lanefold._is_for_apis(p_function text)
returns boolean language sql immutable parallel safe
return p_function = 'rotate_webhook';
