import { operator, type Principal } from '../../access/principal.ts';
import { isLanefoldError, type LanefoldError } from '../../errors.ts';
import type { ApiEnv } from '../env.ts';
import { assertNotExpired } from './known-keys.ts';

/** Timers take no longer delays, and a key may expire in years. */
const longestMs = 2 ** 31 - 1;

/**
 * Checks again and again whether what was allowed still is, at the expiry of the key or token too, and calls `refused` once it
 * is not. A database that does not answer ends nothing. Returns how to stop.
 */
export function watchAccess(
  { principal, recheck }: Pick<ApiEnv['Variables'], 'principal' | 'recheck'>,
  everyMs: number,
  refused: (why: LanefoldError) => void,
): () => void {
  if (principal === operator) return () => {};
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const schedule = ({ expiresAtMs = Infinity }: Principal) => {
    if (stopped) return;
    const delayMs = Math.min(everyMs, expiresAtMs - Date.now(), longestMs);
    timer = setTimeout(() => void look(expiresAtMs), delayMs);
  };
  const look = async (expiresAtMs: number) => {
    try {
      assertNotExpired({ ...principal, expiresAtMs });
      schedule(await recheck());
    } catch (error) {
      const denied = isLanefoldError(error, 'unauthorized') || isLanefoldError(error, 'forbidden');
      if (!denied) schedule({ ...principal, expiresAtMs });
      else if (!stopped) refused(error);
    }
  };
  schedule(principal);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
