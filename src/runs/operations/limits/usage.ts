import type { RunStatus } from '../../../database/store/run/types.ts';
import { assertId } from '../../../base/checks/ids.ts';
import { assertStorable, assertWhole } from '../../../base/checks/values.ts';
import type { LimitKind } from '../../../agent/limits/limit.ts';
import { shownAmount } from '../../../agent/limits/read-definition.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readHolders, type StoredHolder } from '../../../database/store/limit/read-usage.ts';
import { readTotals } from '../../../database/store/limit/read-usage.ts';
import { readUsage } from '../../../database/store/limit/read-usage.ts';
import type { ListPage } from '../../../database/store/rows.ts';

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
  /** Its place among the keys of the limit: pass it as `after` for the next ones. */
  cursor: string;
}

/** What the keys of a limit have used together. */
export interface LimitTotal {
  name: string;
  /** The tenant that set it, for its own runs. Null: the operator, for all runs. */
  tenant: string | null;
  kind: LimitKind;
  /** The keys that were counted: at most 1,000, those that runs wait for first. */
  keys: number;
  /** The used part, 1 for all of it, of the counted key of which most is used. */
  usedRatio: number;
  /** Runs that wait for it. */
  waiting: number;
  /** Everything that was ever used; of money in US dollars. Null if the limit has more keys than were counted. */
  total: number | null;
}

export interface LimitUsageOptions {
  /** Only of limits with this name. */
  name?: string;
  /** The `cursor` of a key: the keys of its limit that come after it. */
  after?: string;
  /** Keys of each limit, from 1 to 1,000; default 100. */
  limit?: number;
}

const mostKeys = 1_000;

/** What a run holds of a limit: a slot, or what its model calls have reserved. */
export interface LimitHolder {
  name: string;
  /** The tenant that set the limit. Null: the operator, for all runs. */
  tenant: string | null;
  kind: LimitKind;
  /** As in `LimitUsage`. */
  key: string;
  /** What it holds; of money in US dollars. */
  amount: number;
  threadId: string;
  runId: string;
  agent: string;
  status: RunStatus;
  /** The worker that executes it; null: none. */
  workerId: string | null;
  /** When the run started. Before its first claim, when it could have started. */
  since: Date;
}

export interface LimitHoldersOptions {
  /** Only of limits with this name. */
  name?: string;
  /** Only of this key. */
  key?: string;
  /** The `nextAfter` of the page before. */
  after?: string;
  /** From 1 to 1,000; default 100. */
  limit?: number;
}

export const usageOf = (db: Database) => ({
  async holders({ name, key, after, limit = 100 }: LimitHoldersOptions = {}): Promise<ListPage<LimitHolder>> {
    if (name !== undefined) assertId(name, 'The name of the limit');
    if (key !== undefined) assertStorable(key, 'The key');
    assertWhole(limit, 'limit', { minimum: 1, maximum: mostKeys, hint: 'Pass the number of runs of a page.' });
    const { data, nextAfter } = await readHolders(db.reader, { name, key, after, limit });
    const toHolder = ({ owner, kind, amount, ...holder }: StoredHolder): LimitHolder => ({
      ...holder,
      kind,
      tenant: tenantOf(owner),
      amount: shownAmount(kind, amount),
    });
    return { data: data.map(toHolder), nextAfter };
  },
  async usage({ name, after, limit = 100 }: LimitUsageOptions = {}): Promise<LimitUsage[]> {
    if (name !== undefined) assertId(name, 'The name of the limit');
    assertWhole(limit, 'limit', { minimum: 1, maximum: mostKeys, hint: 'Pass the number of keys of each limit.' });
    const found = await readUsage(db.reader, { name, after, limit });
    return found.map(({ owner, kind, amount, used, reserved, total, slices, ...bucket }) => ({
      ...bucket,
      kind,
      tenant: tenantOf(owner),
      amount: shownAmount(kind, amount),
      used: shownAmount(kind, used),
      reserved: shownAmount(kind, reserved),
      total: shownAmount(kind, total),
      slices: slices && slices.map((one) => shownAmount(kind, one)),
    }));
  },
  totals: async (): Promise<LimitTotal[]> =>
    (await readTotals(db.reader)).map(({ owner, kind, total, ...counts }) => ({
      ...counts,
      kind,
      tenant: tenantOf(owner),
      total: total === null ? null : shownAmount(kind, total),
    })),
});

/** Each limit with what was used of it, without the limits of other names than `name`. */
export function usedLimits<L extends { name: string; tenant: string | null }>(
  limits: readonly L[],
  usage: readonly LimitUsage[],
  name?: string,
): { limit: L; uses: LimitUsage[] }[] {
  const placeOf = (of: { name: string; tenant: string | null }) => `${of.tenant ?? '*'} ${of.name}`;
  const found = new Map(
    limits
      .filter((limit) => name === undefined || limit.name === name)
      .map((limit) => [placeOf(limit), { limit, uses: [] as LimitUsage[] }]),
  );
  for (const use of usage) found.get(placeOf(use))?.uses.push(use);
  return [...found.values()];
}

export const tenantOf = (owner: string): string | null => (owner === '*' ? null : owner);
