import { call } from '../call.ts';
import type { KeyLimits } from '../../../base/access/principal.ts';
import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import type { Database, DatabaseSettings } from '../../postgres/pool.ts';
import { defaultTenant, derivedIds, type DerivedIds } from '../../../base/checks/ids.ts';

/** The settings of a tenant. */
export interface TenantSettings {
  tenant: string;
  /** Limits of all its keys together. */
  limits: KeyLimits;
  /** Whether threads it creates have tamper evidence. */
  chained: boolean;
}

export async function configureTenant(
  db: Database,
  tenant: string,
  { limits, chained }: Partial<TenantSettings>,
  by: string,
): Promise<void> {
  const given = { ...(limits ? { limits: snakeKeys(limits) } : {}), ...(chained === undefined ? {} : { chained }), by };
  await call(db.query, 'configure_tenant', { tenantId: tenant, p: given });
}

/** The settings of all tenants that have any, or of one tenant. */
export async function readTenantSettings(db: Database, tenant?: string): Promise<TenantSettings[]> {
  const rows = await db.query<{ tenant_id: string; limits: object; chained: boolean }>(
    'tenant_settings',
    'select tenant_id, limits, chained from lanefold._tenant where $1::text is null or tenant_id = $1 order by tenant_id',
    [tenant ?? null],
  );
  return rows.map((row) => ({ tenant: row.tenant_id, limits: camelKeys(row.limits), chained: row.chained }));
}

/**
 * SQL: the condition that a row belongs to the tenant in `parameter`. On a distributed database it is not an equality:
 * next to the equality of a policy, one would crash the backend on the coordinator (seen with Citus 13.2).
 */
export const tenantIs = ({ settings }: Database, parameter: string): string =>
  settings.distributed ? `tenant_id = any (array[${parameter}]::text[])` : `tenant_id = ${parameter}`;

/** Limit on remembered keys. */
const remembered = 10_000;

const known = new WeakMap<DatabaseSettings, Map<string, Promise<DerivedIds>>>();

/** The derived ids of a tenant, of whose key a process asks once; see `name_key`. */
export function idsOf(db: Database, tenant = db.tenant ?? defaultTenant): Promise<DerivedIds> {
  const ofTenants = known.get(db.settings) ?? new Map<string, Promise<DerivedIds>>();
  known.set(db.settings, ofTenants);
  const before = ofTenants.get(tenant);
  if (before) return before;
  if (ofTenants.size >= remembered) ofTenants.clear();
  const ids = readKey(db, tenant).then(derivedIds);
  ofTenants.set(tenant, ids);
  // the next request asks again
  ids.catch(() => ofTenants.delete(tenant));
  return ids;
}

const readKey = async (db: Database, tenant: string): Promise<string> =>
  await call(db.query, 'name_key', { tenantId: tenant });
