import { z } from 'zod';
import type { KeyLimits } from '../../../base/access/principal.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  configureTenant,
  readTenantSettings,
  type TenantSettings,
} from '../../../database/store/tenant/tenant-settings.ts';

const Count = z.number().int().min(1).optional();

/** Limits as callers give them. */
export const LimitFields = z.strictObject({ requestsPerMinute: Count, runs: Count, streams: Count, bodyBytes: Count });

export interface Tenants {
  /**
   * Changes only the settings given. `limits` apply to all keys of the tenant together and replace the previous limits;
   * servers notice within ten seconds. With `chained`, threads that the tenant creates from now on have tamper
   * evidence.
   *
   * @param on.by who changes them, for the audit; default `operator`
   * @throws LanefoldError `invalid_id`, `invalid_input`
   */
  configure(tenant: string, settings: { limits?: KeyLimits; chained?: boolean }, on?: { by?: string }): Promise<void>;
  /** The limits of a tenant; undefined if it has no settings. */
  limits(tenant: string): Promise<KeyLimits | undefined>;
  /** The tenants that have settings. */
  list(): Promise<TenantSettings[]>;
}

export function tenantsOf(db: Database): Tenants {
  return {
    async configure(tenant, settings, { by = 'operator' } = {}) {
      assertId(tenant, 'The tenant id');
      const parsed = z
        .strictObject({ limits: LimitFields.optional(), chained: z.boolean().optional() })
        .safeParse(settings);
      if (!parsed.success) {
        throw new LanefoldError('invalid_input', `The settings are invalid: ${z.prettifyError(parsed.error)}.`, {
          hint: 'Limits are whole numbers of at least 1: requestsPerMinute, runs, streams, bodyBytes.',
        });
      }
      await configureTenant(db, tenant, settings, by);
    },
    limits: async (tenant) => (await readTenantSettings(db, tenant))[0]?.limits,
    list: () => readTenantSettings(db),
  };
}
