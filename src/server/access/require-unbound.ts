import type { MiddlewareHandler } from 'hono';
import { isUnbound, may, seesThreads, type Principal, type Scope } from '../../base/access/principal.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { ApiEnv } from '../env.ts';

/** Guards routes that show every tenant and thread: rejects keys that are bound to some of them. */
export const requireUnbound =
  (scope: Scope): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    assertUnbound(c.get('principal'), scope);
    await next();
  };

/** For operations that span the threads of a tenant. @throws LanefoldError `forbidden` */
export function assertSeesThreads(principal: Principal, scope: Scope): void {
  if (may(principal, scope) && seesThreads(principal)) return;
  throw new LanefoldError(
    'forbidden',
    'This operation covers every thread, which the key of this request does not allow.',
    {
      hint: `Use a key with the scope ${scope} that is not bound to threads or agents.`,
    },
  );
}

/** @throws LanefoldError `forbidden` */
export function assertUnbound(principal: Principal, scope: Scope): void {
  if (may(principal, scope) && isUnbound(principal)) return;
  throw new LanefoldError(
    'forbidden',
    'This operation covers every tenant and thread, which the key of this request does not allow.',
    {
      hint: `Use LANEFOLD_API_KEY, or a key with the scope ${scope} that is not bound to a tenant, threads or agents.`,
    },
  );
}
