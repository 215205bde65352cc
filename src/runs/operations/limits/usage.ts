import { assertStorable } from '../../../base/checks/values.ts';
import { checkOptions } from '../../../base/operations/checked.ts';
import type { LimitKind } from '../../../agent/limits/limit.ts';
import { shownAmount } from '../../../agent/limits/read-definition.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readHolders, readTotals, readUsage, type StoredHolder } from '../../../database/store/limit/read-usage.ts';
import type { ListPage } from '../../../database/store/rows.ts';
import { LimitHoldersOptions as Holders, LimitUsageOptions as Usage } from './declaration.ts';
import type { LimitHolder, LimitHoldersOptions, LimitUsage, LimitUsageOptions } from './types.ts';

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

export const usageOf = (db: Database) => ({
  async holders(query: LimitHoldersOptions = {}): Promise<ListPage<LimitHolder>> {
    checkOptions('limits.holders', Holders, query);
    const { name, key, after, limit = 100 } = query;
    if (key !== undefined) assertStorable(key, 'The key');
    const { data, nextAfter } = await readHolders(db.reader, { name, key, after, limit });
    const toHolder = ({ owner, kind, amount, ...holder }: StoredHolder): LimitHolder => ({
      ...holder,
      kind,
      tenant: tenantOf(owner),
      amount: shownAmount(kind, amount),
    });
    return { data: data.map(toHolder), nextAfter };
  },
  async usage(query: LimitUsageOptions = {}): Promise<LimitUsage[]> {
    checkOptions('limits.usage', Usage, query);
    const { name, after, limit = 100 } = query;
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

type Named = Pick<LimitUsage, 'name' | 'tenant'>;

/** A limit with what its first keys have used, or those after a cursor. `nextAfter` continues with its other keys. */
interface UsedLimit<L> {
  limit: L;
  uses: LimitUsage[];
  nextAfter: string | null;
}

/** Each limit with a page of what was used of it. With `after`, only the limit of the cursor; with `name`, only those of this name. */
export async function usedLimits<L extends Named>(
  limits: { list(): Promise<L[]>; usage(query: LimitUsageOptions): Promise<LimitUsage[]> },
  query: LimitUsageOptions,
): Promise<UsedLimit<L>[]> {
  const { name, after, limit = 100 } = query;
  const [found, usage] = await Promise.all([limits.list(), limits.usage(query)]);
  return withUses(found, usage)
    .filter(
      ({ limit: one, uses }) => (name === undefined || one.name === name) && (after === undefined || uses.length > 0),
    )
    .map((one) => ({ ...one, nextAfter: one.uses.length === limit ? one.uses.at(-1)!.cursor : null }));
}

function withUses<L extends Named>(
  limits: readonly L[],
  usage: readonly LimitUsage[],
): { limit: L; uses: LimitUsage[] }[] {
  const placeOf = ({ tenant, name }: Named) => `${tenant ?? '*'} ${name}`;
  const found = new Map(limits.map((limit) => [placeOf(limit), { limit, uses: [] as LimitUsage[] }]));
  for (const use of usage) found.get(placeOf(use))?.uses.push(use);
  return [...found.values()];
}

export const tenantOf = (owner: string): string | null => (owner === '*' ? null : owner);
