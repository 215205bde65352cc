import type { LimitCall } from '../../../src/store/limit/use-limits.ts';
import type { Body } from './state.ts';

/** The one limit of a simulation; its amount is never reached. */
export const place = '* tokens all';
export const limit = { scope: {}, by: 'simulation', kind: 'tokens', amount: 1_000_000_000, per_ms: 86_400_000 };
export const limitsVersion = 1;

const sliceMs = limit.per_ms / 32;

/** What runs have reserved of the limit, and how much each of them holds. */
export interface Limits {
  reserved: number;
  holds: Map<string, number>;
}

export const newLimits = (): Limits => ({ reserved: 0, holds: new Map() });

/** Takes from the limit for a run and gives back; a run that has ended gives back everything. */
export function useLimits(
  limits: Limits,
  at: number,
  { thread_id, run_id, version, take, done, end }: LimitCall,
): Body {
  if (take && version !== limitsVersion) return { stale: limitsVersion };
  const account = `${thread_id} ${run_id}`;
  const change = (amount: number) => {
    limits.reserved += amount;
    limits.holds.set(account, (limits.holds.get(account) ?? 0) + amount);
  };
  for (const [, reserved] of done ?? []) change(-Math.min(reserved, limits.holds.get(account) ?? 0));
  for (const [, amount] of take ?? []) change(amount);
  if (end) {
    change(-(limits.holds.get(account) ?? 0));
    limits.holds.delete(account);
  }
  return { ok: true, ...(take ? { slices: { [place]: Math.floor(at / sliceMs) } } : {}) };
}
