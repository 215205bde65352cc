import { namedIntervals, type LimitDefinition, type LimitInterval } from './definition.ts';
import type { LimitKind, StoredLimit } from './limit.ts';
import { dollarsOf } from './money.ts';

/** An amount as callers read it. @param stored whole text */
export const shownAmount = (kind: LimitKind, stored: string): number =>
  kind === 'money' ? dollarsOf(stored) : Number(stored);

/** A stored limit as a caller would set it, without the defaults. */
export function showDefinition(limit: Omit<StoredLimit, 'version'>): LimitDefinition {
  const { kind, scope, amounts, tokens, perMs, calendar, timeZone, share, weights, reserve, onExhausted } = limit;
  const shown = (amount: bigint) => shownAmount(kind, String(amount));
  const shownAll = (all: Record<string, bigint>) =>
    Object.fromEntries(Object.entries(all).map(([key, one]) => [key, shown(one)]));
  return {
    ...{ kind, scope, amount: shown(limit.amount) },
    ...(amounts ? { amounts: shownAll(amounts) } : {}),
    ...(tokens ? { tokens } : {}),
    ...(perMs === null ? {} : { per: nameOf(perMs) ?? perMs }),
    ...(calendar ? { calendar } : {}),
    ...(timeZone === null ? {} : { timeZone }),
    ...(share === null ? {} : { share }),
    ...(weights ? { weights } : {}),
    ...(reserve ? { reserve: shownAll(reserve) } : {}),
    ...(onExhausted === 'wait' ? {} : { onExhausted }),
  };
}

const nameOf = (perMs: number): LimitInterval | undefined =>
  (Object.keys(namedIntervals) as LimitInterval[]).find((name) => namedIntervals[name] === perMs);
