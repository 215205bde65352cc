import { LanefoldError } from '../../../base/errors.ts';
import { assertId, defaultTenant } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { DatabaseScope } from '../../../database/postgres/query-with-settings.ts';
import type { SessionRights } from '../../../database/store/role/session-rights.ts';

export const otherTenant = (asked: string, own: string): LanefoldError =>
  new LanefoldError('invalid_input', `This library is limited to tenant ${own}; got tenant ${asked}.`, {
    hint: 'Nothing was written. Use a library without a tenant.',
  });

/** Whether the database keeps tenants apart for this role: policies bind it, or it can act as the owner whom they bind. */
export const enforcesTenants = ({ bypasses, ownerBypasses, isOwner }: SessionRights): boolean =>
  !ownerBypasses && (!bypasses || isOwner);

/**
 * How statements run for a single tenant. Policies do not bind a superuser or a role with BYPASSRLS, so its statements
 * run as the owner of the schema, whom the policies do bind.
 *
 * @throws LanefoldError `invalid_id`, `tenants_not_enforced`
 */
export function tenantScope(tenant: string, { bypasses, owner, ownerBypasses, isOwner }: SessionRights): DatabaseScope {
  assertId(tenant, 'The tenant id');
  if (!ownerBypasses && !bypasses) return { tenant };
  if (!ownerBypasses && isOwner) return { tenant, role: owner };
  throw new LanefoldError(
    'tenants_not_enforced',
    'This role, or the owner of the schema, bypasses row-level security.',
    {
      hint: 'Nothing was read. Run `lanefold migrate` as a superuser, and connect with a role that `lanefold roles` describes.',
      details: { owner },
    },
  );
}

/** Whose thing a caller means, and who asks. */
export interface Owner {
  tenant?: string | undefined;
  by?: string | undefined;
}

/**
 * Finds the tenant that a caller means, with its connections.
 *
 * @param scopeTo the same connections for a tenant
 */
export const ownersOn =
  (db: Database, scopeTo: (tenant: string) => Database) =>
  ({ tenant = db.tenant ?? defaultTenant, by = 'operator' }: Owner): { tenant: string; by: string; on: Database } => {
    assertId(tenant, 'The tenant id');
    if (db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    return { tenant, by, on: db.tenant === undefined ? scopeTo(tenant) : db };
  };
