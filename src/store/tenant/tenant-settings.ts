import type { Limits } from '../../access/scope.ts';
import { camelKeys, snakeKeys } from '../../case.ts';
import type { Database } from '../../postgres/pool.ts';

/** What is set for a tenant. */
export interface TenantSettings {
  tenant: string;
  /** What all its keys together may do. */
  limits: Limits;
}

export async function configureTenant(db: Database, { tenant, limits }: TenantSettings): Promise<void> {
  await db.query('configure_tenant', 'select lanefold.configure_tenant($1, $2)', [tenant, snakeKeys(limits)]);
}

/** The tenants something is set for, or one of them. */
export async function readTenantSettings(db: Database, tenant?: string): Promise<TenantSettings[]> {
  const rows = await db.query<{ tenant_id: string; limits: object }>(
    'tenant_settings',
    'select tenant_id, limits from lanefold._tenant where $1::text is null or tenant_id = $1 order by tenant_id',
    [tenant ?? null],
  );
  return rows.map((row) => ({ tenant: row.tenant_id, limits: camelKeys(row.limits) }));
}
