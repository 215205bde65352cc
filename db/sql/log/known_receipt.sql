-- The first entry that the thread wrote for an idempotency key, null for a new key. The caller holds the lock of the thread. Raises LF007
-- if the key came with another body.
create or replace function lanefold._known_receipt(p_thread_id text, p_op_id text, p_hash text)
returns bigint language plpgsql stable as $$
declare
  r lanefold._append_receipt;
begin
  select * into r from lanefold._append_receipt where thread_id = p_thread_id and op_id = p_op_id;
  if r.hash <> p_hash then
    perform lanefold._fail('LF007', format('The idempotency key %s was used with another body.', p_op_id), 'Use a new key for a new request.');
  end if;
  return r.first_seq;
end $$;
