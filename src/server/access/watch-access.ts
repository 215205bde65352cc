import { processClock, after, type Timer } from '../../base/common/timer.ts';
import { operator, type Principal } from '../../base/access/principal.ts';
import { isLanefoldError, type LanefoldError } from '../../base/errors.ts';
import type { ApiEnv } from '../env.ts';
import { assertNotExpired } from './known-keys.ts';

/** The longest delay a timer takes; a key may be valid for years. */
const longestMs = 2 ** 31 - 1;

/**
 * Rechecks access periodically, and when the key or token expires; calls `refused` once access is denied. A database
 * that does not answer ends nothing. Returns a function that stops the checks.
 */
export function watchAccess(
  { principal, recheck }: Pick<ApiEnv['Variables'], 'principal' | 'recheck'>,
  everyMs: number,
  refused: (why: LanefoldError) => void,
): () => void {
  if (principal === operator) return () => {};
  let timer: Timer | undefined;
  let stopped = false;
  const schedule = ({ expiresAtMs = Infinity }: Principal) => {
    if (stopped) return;
    const delayMs = Math.min(everyMs, expiresAtMs - processClock.now(), longestMs);
    timer = after(delayMs, () => void look(expiresAtMs));
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
    timer?.cancel();
  };
}
