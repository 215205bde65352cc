-- The only clock: every function that writes or compares a time calls it once, after taking the lock, and keeps the
-- value in a variable. A test moves it with `alter database … set lanefold.clock_offset = '1 hour'`, which applies to
-- sessions opened later. plpgsql inlines the call, and an interval is parsed only if an offset is set.
create or replace function lanefold._now()
returns timestamptz language sql volatile parallel safe as $$
  select case when coalesce(current_setting('lanefold.clock_offset', true), '') = '' then clock_timestamp()
              else clock_timestamp() + current_setting('lanefold.clock_offset')::interval end;
$$;
