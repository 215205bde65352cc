import type { Queryable } from '../../postgres/run-query.ts';
import { fromRow } from '../rows.ts';
import pg from 'pg';

/** What the role of a connection may do, to compare with what its duty needs. */
export interface SessionRights {
  role: string;
  /** No policy binds it: a superuser, or a role with BYPASSRLS. */
  bypasses: boolean;
  /** It may act as the owner of the schema, and so drop the triggers and policies that protect the rows. */
  isOwner: boolean;
  /** It may write tables directly, without the functions. */
  mayWrite: boolean;
  /** It may see all tenants, as a worker must. */
  allTenants: boolean;
  owner: string;
  ownerBypasses: boolean;
  /** Tables whose policies do not bind the owner, as whom views and functions run. */
  unprotected: string[];
}

export async function readSessionRights(on: Queryable): Promise<SessionRights> {
  const { rows } = await on.query({
    text: `select session_user::text as role, me.rolsuper or me.rolbypassrls as bypasses, o.rolname::text as owner,
        pg_has_role(session_user, n.nspowner, 'member') as is_owner, o.rolsuper or o.rolbypassrls as owner_bypasses,
        has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute') as all_tenants,
        exists (select from pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p')
          and has_table_privilege(session_user, c.oid, 'insert, update, delete, truncate')) as may_write,
        array(select c.relname::text from pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p')
          and not (c.relrowsecurity and c.relforcerowsecurity) order by 1) as unprotected
      from pg_namespace n join pg_roles o on o.oid = n.nspowner join pg_roles me on me.rolname = session_user
      where n.nspname = 'lanefold'`,
  });
  return fromRow(rows[0]!);
}

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
