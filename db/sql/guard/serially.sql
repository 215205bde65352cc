-- Keeps a statement in one process: PostgreSQL starts no parallel workers for a statement that calls a function which is not
-- parallel safe. Their start takes longer than the page of a list. The call itself is evaluated once, by the planner.
create or replace function lanefold._serially()
returns boolean language sql immutable parallel unsafe return true;
