-- Entries never change, not even for the owner or under session_replication_role = replica. The only exception is
-- erase_thread, which deletes the entries of a thread with the rights of the owner. A role that only writes can delete
-- nothing, whatever it does to the row of the thread.
create or replace function lanefold._refuse_change()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' and lanefold._may_erase() then
    if exists (select from lanefold.thread t where t.id = old.thread_id and t.erased_at is not null) then
      return old;
    end if;
  end if;
  perform lanefold._fail('LF015', 'The log is append-only: entries are never updated or deleted.',
    'Append a new entry instead; to remove a whole thread, call lanefold.erase_thread(id).');
  return null;
end $$;

-- Whether the current user is the owner of erase_thread, as is always the case inside that function. The functions
-- here fix their search_path, so that no caller can redirect the names they use.
create or replace function lanefold._may_erase()
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform from pg_proc p
  where p.pronamespace = 'lanefold'::regnamespace and p.proname = 'erase_thread' and pg_get_userbyid(p.proowner) = current_user;
  return found;
end $$;

create or replace trigger append_only before update or delete on lanefold._entry
for each row execute function lanefold._refuse_change();
alter table lanefold._entry enable always trigger append_only;

create or replace trigger append_only_truncate before truncate on lanefold._entry
for each statement execute function lanefold._refuse_change();
alter table lanefold._entry enable always trigger append_only_truncate;

-- Only erase_thread makes a tombstone, and a tombstone never changes: the id of an erased thread is never used again.
create or replace function lanefold._keep_tombstone()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.erased_at is null and new.id = old.id and lanefold._may_erase() then
    return new;
  end if;
  perform lanefold._fail('LF015', case when old.erased_at is null then 'The id of a thread cannot change, and a thread can be erased only as a whole.'
      else format('Thread %s was erased: its tombstone is final.', old.id) end,
    case when old.erased_at is null then 'To erase it, call lanefold.erase_thread(id) with a role that may execute it.'
      else 'Its id cannot be reused; create another thread.' end);
  return null;
end $$;

create or replace trigger final_tombstone before update on lanefold.thread
for each row when (old.erased_at is not null or new.erased_at is not null or new.id <> old.id)
execute function lanefold._keep_tombstone();
alter table lanefold.thread enable always trigger final_tombstone;

-- A thread is never deleted, because that would free its id.
create or replace function lanefold._refuse_thread_delete()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform lanefold._fail('LF015', 'A thread cannot be deleted: its id would become free for another conversation.',
    'Call lanefold.erase_thread(id): it removes the content and leaves a tombstone.');
  return null;
end $$;

create or replace trigger keep_tombstone before delete on lanefold.thread
for each row execute function lanefold._refuse_thread_delete();
alter table lanefold.thread enable always trigger keep_tombstone;

create or replace trigger keep_tombstone_truncate before truncate on lanefold.thread
for each statement execute function lanefold._refuse_thread_delete();
alter table lanefold.thread enable always trigger keep_tombstone_truncate;
