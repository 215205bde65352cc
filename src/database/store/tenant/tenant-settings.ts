import type { KeyLimits } from '../../../base/access/principal.ts';
import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import type { Database } from '../../postgres/pool.ts';

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
  await db.query('configure_tenant', 'select lanefold.configure_tenant($1, $2)', [tenant, given]);
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
