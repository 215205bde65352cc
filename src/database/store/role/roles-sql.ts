import pg from 'pg';

/** The statements that create a role for each duty. @param tenant of the reader, `*` for all */
export function rolesSql(prefix: string, tenant: string): string {
  const role = (duty: string) => pg.escapeIdentifier(`${prefix}_${duty}`);
  const grant = (duty: string, more = '') =>
    `select lanefold.grant_role(${pg.escapeLiteral(`${prefix}_${duty}`)}, '${duty}'${more});`;
  return `-- set passwords afterwards, for instance with \\password
create role ${role('migrator')} login;
do $$ declare
  owner text := (select r.rolname from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'lanefold');
begin
  execute format('grant %I to ${role('migrator')}', owner);
  execute format('grant create on database %I to %I', current_database(), owner);
end $$;
create role ${role('worker')} login;
${grant('worker')}
create role ${role('api')} login;
${grant('api')}
create role ${role('reader')} login;
${grant('reader', `, ${pg.escapeLiteral(tenant)}`)}`;
}
