import { z } from 'zod';
import type { Limits } from '../access/scope.ts';
import { LanefoldError } from '../errors.ts';
import { assertId } from '../ids.ts';
import type { Database } from '../postgres/pool.ts';
import { writeAudit } from '../store/access/write-audit.ts';
import { configureTenant, readTenantSettings, type TenantSettings } from '../store/tenant/tenant-settings.ts';
import { LimitFields } from './limit-fields.ts';

export interface Tenants {
  /**
   * Sets what all keys of a tenant together may do, in place of what was set before; servers notice within ten seconds.
   *
   * @param on.by who does it, for the audit; default `operator`
   * @throws LanefoldError `invalid_id`, `invalid_input`
   */
  configure(tenant: string, settings: { limits: Limits }, on?: { by?: string }): Promise<void>;
  /** The limits of a tenant; undefined where none were set. */
  limits(tenant: string): Promise<Limits | undefined>;
  /** The tenants something is set for. */
  list(): Promise<TenantSettings[]>;
}

export function tenantsOf(db: Database): Tenants {
  return {
    async configure(tenant, settings, { by = 'operator' } = {}) {
      assertId(tenant, 'The tenant id');
      const parsed = z.strictObject({ limits: LimitFields }).safeParse(settings);
      if (!parsed.success) {
        throw new LanefoldError('invalid_input', `The limits are invalid: ${z.prettifyError(parsed.error)}.`, {
          hint: 'Give whole numbers of at least 1: requestsPerMinute, runs, streams, bodyBytes.',
        });
      }
      const limits = parsed.data.limits as Limits;
      await writeAudit(db, { actor: by, action: 'tenants.configure', tenantId: tenant, detail: { ...limits } });
      await configureTenant(db, { tenant, limits });
    },
    limits: async (tenant) => (await readTenantSettings(db, tenant))[0]?.limits,
    list: () => readTenantSettings(db),
  };
}
