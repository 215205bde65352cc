import type { MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../base/errors.ts';
import type { Library } from '../../features/library/library.ts';
import type { ApiEnv } from '../env.ts';

/**
 * Selects the library a request acts on: for a key bound to a tenant, a library on which the database shows only that
 * tenant's rows; otherwise the server's own.
 */
export const actFor =
  (lanefold: Library): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    const { tenant } = c.get('principal');
    if (tenant !== undefined && lanefold.tenant !== undefined && tenant !== lanefold.tenant) {
      throw new LanefoldError('forbidden', 'The key of this request is for a different tenant than this server.', {
        hint: 'Use the server of that tenant.',
      });
    }
    c.set('lanefold', tenant === undefined ? lanefold : lanefold.forTenant(tenant));
    await next();
  };
