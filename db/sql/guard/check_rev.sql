-- The optimistic lock of a caller: p_expected is the rev it has read, null to skip the check. Raises LF006 if the rev
-- differs. The caller holds the lock of the thread.
create or replace function lanefold._check_rev(t lanefold.thread, p_expected bigint)
returns void language plpgsql as $$
begin
  if p_expected <> t.rev then
    perform lanefold._fail('LF006', format('Thread %s is at rev %s, not %s.', t.id, t.rev, p_expected),
      'Read the new entries and try again with the current rev.');
  end if;
end $$;
