import type { Context } from 'hono';
import type { ApiEnv } from '../env.ts';
import { LanefoldError } from '../../base/errors.ts';
import { limitedParties } from './limited-parties.ts';

/**
 * The latest pending request of each key or tenant. Requests queue behind it, so that concurrent ones cannot all pass
 * the same limit check.
 */
const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Starts `starting` runs within the limits of the key and the tenant. Requests that share `server` check their limits
 * in turn.
 *
 * @throws LanefoldError `rate_limited`
 */
export async function withinRuns<T>(
  c: Context<ApiEnv>,
  server: object,
  start: () => Promise<T>,
  starting = 1,
): Promise<T> {
  const { lanefold, principal } = c.var;
  const limited = limitedParties(principal).filter(({ limits }) => limits.runs !== undefined);
  if (limited.length === 0) return start();
  const under = turns.get(server) ?? new Map<string, Promise<unknown>>();
  turns.set(server, under);
  const names = limited.map(({ name }) => name);
  const before = names.map((name) => under.get(name));
  const mine = (async () => {
    await Promise.allSettled(before);
    for (const { name, tenant, limits } of limited) {
      const running = await lanefold.runs.unfinished(tenant === undefined ? { caller: name } : { tenant });
      if (running + starting > limits.runs!)
        throw tooMany(tenant === undefined ? 'This key' : `Tenant ${tenant}`, limits.runs!);
    }
    return start();
  })();
  for (const name of names) under.set(name, mine);
  try {
    return await mine;
  } finally {
    for (const name of names) if (under.get(name) === mine) under.delete(name);
  }
}

const tooMany = (who: string, runs: number): LanefoldError =>
  new LanefoldError('rate_limited', `${who} may have at most ${runs} runs that have not ended.`, {
    hint: 'Nothing was written. Wait for one to end, or cancel one.',
    details: { retryAfterS: 5 },
  });
