import type { KeyLimits } from '../../access/scope.ts';
import { camelKeys, snakeKeys } from '../../common/case.ts';
import type { Database } from '../../postgres/pool.ts';

/** What is set for a tenant. */
export interface TenantSettings {
  tenant: string;
  /** What all its keys together may do. */
  limits: KeyLimits;
  /** Whether threads it creates have tamper evidence. */
  chained: boolean;
}

export async function configureTenant(
  db: Database,
  tenant: string,
  { limits, chained }: Partial<TenantSettings>,
): Promise<void> {
  const given = { ...(limits ? { limits: snakeKeys(limits) } : {}), ...(chained === undefined ? {} : { chained }) };
  await db.query('configure_tenant', 'select lanefold.configure_tenant($1, $2)', [tenant, given]);
}

/** The tenants something is set for, or one of them. */
export async function readTenantSettings(db: Database, tenant?: string): Promise<TenantSettings[]> {
  const rows = await db.query<{ tenant_id: string; limits: object; chained: boolean }>(
    'tenant_settings',
    'select tenant_id, limits, chained from lanefold._tenant where $1::text is null or tenant_id = $1 order by tenant_id',
    [tenant ?? null],
  );
  return rows.map((row) => ({ tenant: row.tenant_id, limits: camelKeys(row.limits), chained: row.chained }));
}

/**
 * The condition that a row is of a tenant, which is a `parameter` of the statement. Not an equality on a distributed
 * database: beside that of a policy it ends the backend of the coordinator (seen with Citus 13.2).
 */
export const tenantIs = ({ settings }: Database, parameter: string): string =>
  settings.distributed ? `tenant_id = any (array[${parameter}]::text[])` : `tenant_id = ${parameter}`;
