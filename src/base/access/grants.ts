import { LanefoldError } from '../errors.ts';
import { may, type Principal } from './principal.ts';
import type { Allowed, KeyLimits } from './scope.ts';

/** The rights requested for a new key. */
export interface Granted extends Allowed {
  /** In ms, as returned by `Date.now()`; undefined: the key never expires. */
  expiresAtMs?: number | undefined;
}

/**
 * Rejects a new key with more rights than the principal who requests it. Tenants are not compared: a tenant's library
 * neither makes nor finds keys of another tenant.
 *
 * @throws LanefoldError `forbidden`
 */
export function assertMayGrant(principal: Principal, granted: Granted): void {
  const surplus = surplusOf(principal, granted);
  if (surplus === undefined) return;
  throw new LanefoldError('forbidden', `A key cannot grant more than it has: ${surplus}.`, {
    hint: 'Request fewer rights, or use a key that has them.',
  });
}

function surplusOf(own: Principal, { scopes, agents, threadPrefix, limits, expiresAtMs }: Granted): string | undefined {
  const scope = scopes.find((one) => !may(own, one));
  if (scope !== undefined) return `it lacks the scope ${scope}`;
  if (own.agents && !agents?.every((agent) => own.agents!.includes(agent)))
    return `it is limited to the agents ${own.agents.join(', ')}`;
  if (own.threadPrefix !== undefined && !threadPrefix?.startsWith(own.threadPrefix))
    return `it is limited to threads whose id begins with ${own.threadPrefix}`;
  for (const [name, most] of Object.entries(own.limits ?? {})) {
    const given = limits?.[name as keyof KeyLimits] ?? Infinity;
    if (given > most) return `its limit ${name} is ${most}`;
  }
  if ((expiresAtMs ?? Infinity) > (own.expiresAtMs ?? Infinity)) return 'it expires earlier';
  return undefined;
}
