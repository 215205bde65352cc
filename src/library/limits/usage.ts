import { assertId } from '../../checks/ids.ts';
import { assertWhole } from '../../checks/whole-number.ts';
import type { LimitKind } from '../../limits/limit.ts';
import { shownAmount } from '../../limits/show-definition.ts';
import type { Database } from '../../postgres/pool.ts';
import { readTotals } from '../../store/limit/read-totals.ts';
import { readUsage } from '../../store/limit/read-usage.ts';

/** What was used of a limit, by one value of its scope. */
export interface LimitUsage {
  name: string;
  tenant: string | null;
  kind: LimitKind;
  /** The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
  key: string;
  /** The amount that applies to this key; of money, like the other amounts, in US dollars. */
  amount: number;
  /** Used in the interval, including `reserved`. */
  used: number;
  /** Taken by calls that have not ended. */
  reserved: number;
  /** Runs that wait for it. */
  waiting: number;
  /** Everything that was ever used. */
  total: number;
  /** When the calendar interval ends. Null for other limits: a sliding interval gives back bit by bit. */
  resetsAt: Date | null;
  /** When a limit that gives notice was last found to be passed. */
  noticedAt: Date | null;
  /** The provider asked to make no call before. */
  drainedUntil: Date | null;
  /** Used in each 1/32 of a sliding interval, oldest first. Null for other limits. */
  slices: number[] | null;
  /** Runs that wait, by value of `share`: the ten with most. Null without `share`, or if none wait. */
  waitingBy: Record<string, number> | null;
}

/** What all keys of a limit have used together. */
export interface LimitTotal {
  name: string;
  /** The tenant that set it, for its own runs. Null: the operator, for all runs. */
  tenant: string | null;
  kind: LimitKind;
  /** The used part, 1 for all of it, of the key of which most is used. */
  usedRatio: number;
  /** Runs that wait for it. */
  waiting: number;
  /** Everything that was ever used; of money in US dollars. */
  total: number;
}

export interface LimitUsageOptions {
  /** Only of limits with this name. */
  name?: string;
  /** Keys of each limit, from 1 to 1,000; default 100. */
  limit?: number;
}

const mostKeys = 1_000;

export const usageOf = (db: Database) => ({
  async usage({ name, limit = 100 }: LimitUsageOptions = {}): Promise<LimitUsage[]> {
    if (name !== undefined) assertId(name, 'The name of the limit');
    assertWhole(limit, 'limit', { minimum: 1, maximum: mostKeys, hint: 'Pass the number of keys of each limit.' });
    const found = await readUsage(db.reader, { name, limit });
    return found.map(({ owner, kind, amount, used, reserved, total, slices, ...bucket }) => ({
      ...{ ...bucket, kind, tenant: tenantOf(owner) },
      ...{ amount: shownAmount(kind, amount), used: shownAmount(kind, used) },
      ...{ reserved: shownAmount(kind, reserved), total: shownAmount(kind, total) },
      slices: slices && slices.map((one) => shownAmount(kind, one)),
    }));
  },
  totals: async (): Promise<LimitTotal[]> =>
    (await readTotals(db.reader)).map(({ owner, kind, total, ...counts }) => ({
      ...{ ...counts, kind, tenant: tenantOf(owner), total: shownAmount(kind, total) },
    })),
});

export const tenantOf = (owner: string): string | null => (owner === '*' ? null : owner);
