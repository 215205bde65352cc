-- Chains an entry to the previous one if its thread has a chain: the functions that write entries then pass an empty
-- hash. Rows of one statement arrive in the order of their seq; a row is rejected if the previous one is missing.
create or replace function lanefold._seal_entry()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_before bytea;
  v_entry lanefold._entry := new;  -- on a Citus node, new has the row type of the shard
begin
  if new.seq = 0 then
    v_before := lanefold._chain_start(new.thread_id);
  else
    select hash into v_before from lanefold._entry where thread_id = new.thread_id and seq = new.seq - 1;
  end if;
  if v_before is null then
    perform lanefold._fail('LF015', format('The chain of thread %s is broken before entry %s.', new.thread_id, new.seq),
      'Nothing was written. Run `lanefold verify` and restore the thread from a backup.');
  end if;
  new.hash := lanefold._entry_hash(v_entry, v_before);
  return new;
end $$;

create or replace trigger seal before insert on lanefold._entry
for each row when (new.hash is not null) execute function lanefold._seal_entry();
alter table lanefold._entry enable always trigger seal;
