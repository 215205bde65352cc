-- Audit records never change, not even for the owner or under session_replication_role = replica.
create or replace function lanefold._refuse_audit_change()
returns trigger language plpgsql as $$
begin
  perform lanefold._fail('LF015', 'The audit is append-only: its rows are never updated or deleted.',
    'Append a row that corrects it.');
  return null;
end $$;

create or replace trigger append_only before update or delete on lanefold._audit
for each row execute function lanefold._refuse_audit_change();
alter table lanefold._audit enable always trigger append_only;

create or replace trigger append_only_truncate before truncate on lanefold._audit
for each statement execute function lanefold._refuse_audit_change();
alter table lanefold._audit enable always trigger append_only_truncate;
