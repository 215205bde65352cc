import { assertId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { configureTenant, readTenantSettings } from '../../../database/store/tenant/tenant-settings.ts';
import type { Tenants } from '../fleet/types.ts';

export const tenantsOf = (db: Database): Tenants => ({
  async configure(tenant, settings, { by = 'operator' } = {}) {
    assertId(tenant, 'The tenant id');
    await configureTenant(db, tenant, settings, by);
    const [configured] = await readTenantSettings(db, tenant);
    return configured!;
  },
  limits: async (tenant) => (await readTenantSettings(db, tenant))[0]?.limits,
  list: () => readTenantSettings(db),
});
