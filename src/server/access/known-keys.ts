import { processClock } from '../../base/common/timer.ts';
import { createHash } from 'node:crypto';
import { tokenRefused } from '../../base/access/browser-token.ts';
import { readKey, type Principal, type KeyLimits } from '../../base/access/principal.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Library } from '../../features/library/library.ts';

/** Limit on remembered keys, invalid ones included. */
const remembered = 10_000;

export interface KnownKeys {
  /**
   * The principal behind a credential; undefined for text that is neither a key nor a token.
   *
   * @throws LanefoldError `unauthorized`
   */
  find(credential: string): Promise<Principal | undefined>;
}

/**
 * Looks up keys in the database and caches each result for `rememberMs`; a revoked key may keep working for that long.
 */
export function knownKeys({ keys, tenants }: Pick<Library, 'keys' | 'tenants'>, rememberMs: number): KnownKeys {
  const known = new Map<string, { until: number; principal: Promise<Principal> }>();
  const limits = new Map<string, { until: number; limits: Promise<KeyLimits | undefined> }>();
  const limitsOf = (tenant: string) => {
    const before = limits.get(tenant);
    if (before && before.until > performance.now()) return before.limits;
    if (limits.size >= remembered) limits.clear();
    const entry = { until: performance.now() + rememberMs, limits: tenants.limits(tenant) };
    limits.set(tenant, entry);
    entry.limits.catch(() => limits.delete(tenant));
    return entry.limits;
  };
  const withLimits = async (principal: Principal | undefined): Promise<Principal | undefined> => {
    const tenantLimits = principal?.tenant === undefined ? undefined : await limitsOf(principal.tenant);
    return principal && tenantLimits ? { ...principal, tenantLimits } : principal;
  };
  const find = (credential: string): Promise<Principal | undefined> => {
    if (!readKey(credential)) return keys.holder(credential);
    const hash = createHash('sha256').update(credential).digest('base64');
    const before = known.get(hash);
    if (before && before.until > performance.now()) return before.principal;
    if (known.size >= remembered) known.clear();
    const principal = look(keys, credential);
    const entry = { until: performance.now() + rememberMs, principal };
    known.set(hash, entry);
    // do not cache a failed lookup: the next request tries the database again
    principal.catch((error: unknown) => {
      if (!(error instanceof LanefoldError && error.code === 'unauthorized')) known.delete(hash);
    });
    return principal;
  };
  return {
    async find(credential) {
      const principal = await find(credential);
      if (principal) assertNotExpired(principal);
      return withLimits(principal);
    },
  };
}

async function look(keys: Library['keys'], credential: string): Promise<Principal> {
  const found = await keys.find(credential);
  if (!found) throw refused('is unknown to this server');
  const { id, state, validForMs, ...allowed } = found;
  const expires = validForMs === null ? {} : { expiresAtMs: processClock.now() + validForMs };
  if (state === 'valid') return { actor: `key:${id}`, ...allowed, ...expires };
  throw refused(state === 'revoked' ? 'was revoked' : 'has expired');
}

/** @throws LanefoldError `unauthorized` */
export function assertNotExpired({ actor, expiresAtMs = Infinity }: Pick<Principal, 'actor' | 'expiresAtMs'>): void {
  if (expiresAtMs > processClock.now()) return;
  throw (actor.startsWith('token:') ? tokenRefused : refused)('has expired');
}

const refused = (why: string): LanefoldError =>
  new LanefoldError('unauthorized', `The API key ${why}.`, { hint: 'Create another with `lanefold keys create`.' });
