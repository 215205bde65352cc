-- The one clock. Everything that writes or compares a time takes it from here, into a variable and after the lock. A test
-- moves it with `alter database … set lanefold.clock_offset = '1 hour'`; sessions opened later see it.
-- plpgsql expands the call in place, and parses an interval only where there is one.
create or replace function lanefold._now()
returns timestamptz language sql volatile parallel safe as $$
  select case when coalesce(current_setting('lanefold.clock_offset', true), '') = '' then clock_timestamp()
              else clock_timestamp() + current_setting('lanefold.clock_offset')::interval end;
$$;
