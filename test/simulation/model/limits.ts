import type { LimitCall } from '../../../src/database/store/limit/use-limits.ts';
import type { Body } from './state.ts';

/** The one limit of a simulation; its amount is never reached. */
export const place = '* tokens ';
export const limit = { scope: {}, by: 'simulation', kind: 'tokens', amount: 1_000_000_000, per_ms: 86_400_000 };
export const limitsVersion = 1;

const sliceMs = limit.per_ms / 32;
/** Accounts that nobody has touched for so long are looked at by sweeps. */
const idleMs = 30_000;

/** What a run has reserved, and when it was last looked at. */
interface Account {
  thread_id: string;
  run_id: string;
  holds: number;
  touched_at: number;
}

/** What runs have reserved of the limit. */
export interface Limits {
  reserved: number;
  accounts: Map<string, Account>;
}

export const newLimits = (): Limits => ({ reserved: 0, accounts: new Map() });

/** Takes from the limit for a run and gives back; a run that has ended, or was claimed again, gives back everything. */
export function useLimits(
  limits: Limits,
  at: number,
  { thread_id = '', run_id = '', version, take, done, base, pause, end }: LimitCall,
): Body {
  const key = `${thread_id} ${run_id}`;
  const account = limits.accounts.get(key) ?? { thread_id, run_id, holds: 0, touched_at: at };
  // it is locked before the version is compared
  if (base) limits.accounts.set(key, account);
  if (take && version !== limitsVersion) return { stale: limitsVersion };
  const change = (amount: number) => {
    limits.reserved += amount;
    account.holds += amount;
  };
  for (const [, reserved] of done ?? []) change(-Math.min(reserved, account.holds));
  if (base ?? pause ?? end) change(-account.holds);
  for (const [, amount] of take ?? []) change(amount);
  if (take) limits.accounts.set(key, account);
  account.touched_at = at;
  if (end) limits.accounts.delete(key);
  return { ok: true, ...(take ? { slices: { [place]: Math.floor(at / sliceMs) } } : {}) };
}

/** Accounts that nobody has touched for a while; this touches them. */
export function idleAccounts({ accounts }: Limits, at: number): Body[] {
  const idle = [...accounts.values()].filter(({ touched_at }) => touched_at < at - idleMs);
  for (const account of idle) account.touched_at = at;
  return idle.map(({ thread_id, run_id }) => ({ thread_id, run_id }));
}

/** The limits as a worker reads them. */
export const currentLimits = (): Body[] => [
  {
    version: limitsVersion,
    limits: [
      {
        owner: '*',
        name: 'tokens',
        kind: limit.kind,
        scope: limit.scope,
        amount: limit.amount,
        perMs: limit.per_ms,
        onExhausted: 'wait',
        version: limitsVersion,
      },
    ],
  },
];
