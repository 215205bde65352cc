-- Entries never change, also for the owner and under session_replication_role = replica. The one exception is the
-- deletion of a thread that erase_thread has already turned into a tombstone.
create or replace function lanefold._refuse_change()
returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from lanefold.thread t where t.id = old.thread_id and t.erased_at is not null) then
      return old;
    end if;
  end if;
  perform lanefold._fail('LF015', 'The log is append-only: entries are never updated or deleted.',
    'Append a new entry instead; to remove a whole thread call lanefold.erase_thread(id).');
  return null;
end $$;

create or replace trigger append_only before update or delete on lanefold._entry
for each row execute function lanefold._refuse_change();
alter table lanefold._entry enable always trigger append_only;

create or replace trigger append_only_truncate before truncate on lanefold._entry
for each statement execute function lanefold._refuse_change();
alter table lanefold._entry enable always trigger append_only_truncate;

-- A tombstone stays: the id of an erased thread is never used again.
create or replace function lanefold._refuse_thread_delete()
returns trigger language plpgsql as $$
begin
  perform lanefold._fail('LF015', 'A thread is never deleted: its id would be free for another conversation.',
    'Call lanefold.erase_thread(id): it removes the content and leaves a tombstone.');
  return null;
end $$;

create or replace trigger keep_tombstone before delete on lanefold.thread
for each row execute function lanefold._refuse_thread_delete();
alter table lanefold.thread enable always trigger keep_tombstone;

create or replace trigger keep_tombstone_truncate before truncate on lanefold.thread
for each statement execute function lanefold._refuse_thread_delete();
alter table lanefold.thread enable always trigger keep_tombstone_truncate;
