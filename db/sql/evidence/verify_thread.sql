-- Compares the chain of a thread with its entries. One row for each finding: {seq, upto, problem}; no rows if the
-- chain is intact.
--   altered   the entry, or the hash of the previous entry, was changed
--   missing   the entries from seq to upto do not exist
--   cut_off   the same at the end of the thread
--   unsealed  the entry has no hash
--   content_altered  a large text that the entry quotes is missing or was changed
-- For a thread without a chain: not_chained; for an erased thread: erased; for an unknown id: not_found.
-- A convenience for SQL: a superuser can replace it. `lanefold verify` relies on none of these functions and finds
-- more.
create or replace function lanefold.verify_thread(p_thread_id text)
returns table (seq bigint, upto bigint, problem text) language plpgsql stable as $$
declare
  t lanefold.thread;
  e lanefold._entry;
  v_next bigint := 0::bigint;
  v_before bytea := lanefold._chain_start(p_thread_id);
begin
  select * into t from lanefold.thread where id = p_thread_id;
  if t.id is null or t.erased_at is not null or not t.chained then
    return query select null::bigint, null::bigint,
      case when t.id is null then 'not_found' when t.erased_at is not null then 'erased' else 'not_chained' end;
    return;
  end if;
  for e in select * from lanefold._entry x where x.thread_id = p_thread_id order by x.seq loop
    if e.seq > v_next then
      return query select v_next, e.seq - 1, 'missing';
      v_before := null;
    end if;
    if e.hash is null then
      return query select e.seq, e.seq, 'unsealed';
    elsif v_before is not null and e.hash <> lanefold._entry_hash(e, v_before) then
      return query select e.seq, e.seq, 'altered';
    end if;
    if not lanefold._contents_whole(p_thread_id, e) then
      return query select e.seq, e.seq, 'content_altered';
    end if;
    v_before := e.hash;
    v_next := e.seq + 1;
  end loop;
  if v_next < t.rev then
    return query select v_next, t.rev - 1, 'cut_off';
  end if;
end $$;
