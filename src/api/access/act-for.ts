import type { MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../errors.ts';
import type { Library } from '../../library/library.ts';
import type { ApiEnv } from '../env.ts';

/**
 * Gives a request the library it acts on: of the tenant its key is bound to, whose rows are all the database then shows, or
 * that of the server.
 */
export const actFor =
  (lanefold: Library): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    const { tenant } = c.get('principal');
    if (tenant !== undefined && lanefold.tenant !== undefined && tenant !== lanefold.tenant) {
      throw new LanefoldError('forbidden', 'The key of this request is for another tenant than this server.', {
        hint: 'Use the server of that tenant.',
      });
    }
    c.set('lanefold', tenant === undefined ? lanefold : lanefold.forTenant(tenant));
    await next();
  };
