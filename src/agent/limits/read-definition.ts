import { LanefoldError } from '../../base/errors.ts';
import {
  billionthsOf,
  dollarsOf,
  isOfRuns,
  namedIntervals,
  type LimitInterval,
  type LimitKind,
  type StoredLimit,
} from './limit.ts';
import type { LimitDefinition } from './types.ts';
import { bucketProblem, eachOf, dimensionProblem, valueProblem } from './dimensions.ts';
import { isTimeZone } from '../../base/checks/values.ts';

/** The most entries of a record in a definition, which every process keeps in memory. */
const maxEntries = 1_000;

/** The error of a definition. @param path of the field, such as `scope.customer` */
const invalid = (path: string, problem: string): LanefoldError => {
  const field = path.slice(0, 200);
  return new LanefoldError('invalid_input', `The limit is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the limit again.',
    details: { field, problem },
  });
};

/** @throws LanefoldError `invalid_input` */
function assertFew(field: string, entries: object): void {
  if (Object.keys(entries).length > maxEntries) throw invalid(field, `has more than ${maxEntries} entries`);
}

/**
 * Checks a limit that a caller sets, whose fields have their types.
 *
 * @param owner the tenant whose limit it is, or `*`
 * @throws LanefoldError `invalid_input`; `details.field` is the path of the field, such as `scope.customer`
 */
export function readDefinition(fields: LimitDefinition, owner: string): Omit<StoredLimit, 'version'> {
  checkScope(fields, owner);
  checkInterval(fields);
  checkShare(fields);
  if (fields.onExhausted === 'notice' && isOfRuns(fields))
    throw invalid('onExhausted', `cannot be notice for the kind ${fields.kind}, which delays runs`);
  if (fields.tokens !== undefined && fields.kind !== 'tokens') throw invalid('tokens', 'is only for the kind tokens');
  const { kind, per, shares = {} } = fields;
  return {
    kind,
    scope: fields.scope ?? {},
    amount: amountOf(kind, fields.amount, 'amount'),
    amounts: amountsOf(fields),
    tokens: kind === 'tokens' ? (fields.tokens ?? 'total') : null,
    perMs: typeof per === 'string' ? namedIntervals[per] : (per ?? null),
    calendar: fields.calendar ?? null,
    timeZone: fields.timeZone ?? null,
    shareBy: fields.shareBy ?? null,
    shares: Object.keys(shares).length > 0 ? shares : null,
    reserve: reserveOf(fields),
    onExhausted: fields.onExhausted ?? 'wait',
  };
}

/** Both fit a bigint twice, so that what is used and what is asked for can be added. */
const maxCount = 1e15;
const maxDollars = 1e9;

/** The amounts of single buckets. @throws LanefoldError `invalid_input` */
function amountsOf({ kind, scope = {}, amounts = {} }: LimitDefinition): Record<string, bigint> | null {
  const entries = Object.entries(amounts);
  if (entries.length === 0) return null;
  const each = eachOf(scope);
  if (each.length === 0) throw invalid('amounts', 'is only for a limit with * in its scope');
  assertFew('amounts', amounts);
  return Object.fromEntries(
    entries.map(([key, amount]) => {
      const wrong = bucketProblem(each, key);
      if (wrong) throw invalid(`amounts.${key}`, wrong);
      return [key, amountOf(kind, amount, `amounts.${key}`)];
    }),
  );
}

/** What is kept for values of the sharing dimension. @throws LanefoldError `invalid_input` */
function reserveOf({ kind, amount, reserve = {} }: LimitDefinition): Record<string, bigint> | null {
  const entries = Object.entries(reserve).map(
    ([value, kept]) => [value, amountOf(kind, kept, `reserve.${value}`)] as const,
  );
  if (entries.length === 0) return null;
  const sum = entries.reduce((before, [, kept]) => before + kept, 0n);
  if (sum > amountOf(kind, amount, 'amount')) throw invalid('reserve', 'is more than the amount');
  return Object.fromEntries(entries);
}

/** As the database has it. @throws LanefoldError `invalid_input` */
function amountOf(kind: LimitDefinition['kind'], amount: number, field: string): bigint {
  if (kind === 'money') {
    const billionths = amount >= 0 && amount <= maxDollars ? billionthsOf(amount) : undefined;
    if (billionths !== undefined) return billionths;
    throw invalid(field, `must be US dollars from 0 to ${maxDollars} with at most 9 decimal places`);
  }
  if (Number.isInteger(amount) && amount >= 0 && amount <= maxCount) return BigInt(amount);
  throw invalid(field, `must be a whole number from 0 to ${maxCount}`);
}

const maxDimensions = 8;

/** @throws LanefoldError `invalid_input` */
function checkScope({ scope = {} }: LimitDefinition, owner: string): void {
  if (Object.keys(scope).length > maxDimensions) throw invalid('scope', `has more than ${maxDimensions} dimensions`);
  for (const [dimension, value] of Object.entries(scope)) {
    const problem = dimensionProblem(dimension);
    if (problem) throw invalid('scope', problem);
    const wrong = value === '*' ? undefined : valueProblem(dimension, value);
    if (wrong) throw invalid(`scope.${dimension}`, wrong);
  }
  if (owner !== '*' && scope['tenant'] !== undefined && scope['tenant'] !== owner)
    throw invalid('scope.tenant', `must be ${owner} or left out: a limit of a tenant applies to its runs only`);
}

/** @throws LanefoldError `invalid_input` */
function checkInterval({ kind, per, calendar, timeZone }: LimitDefinition): void {
  if (kind === 'concurrency') {
    const field = per !== undefined ? 'per' : calendar !== undefined ? 'calendar' : undefined;
    if (field) throw invalid(field, 'is not for the kind concurrency, which counts the runs at work now');
  } else if (per === undefined && calendar === undefined) {
    throw invalid('per', `is missing: a limit of ${kind} needs an interval, per or calendar`);
  } else if (per !== undefined && calendar !== undefined) {
    throw invalid('calendar', 'cannot be combined with per: the interval slides, or follows the calendar');
  }
  if (timeZone === undefined) return;
  if (calendar === undefined) throw invalid('timeZone', 'is only for a limit with calendar');
  if (!isTimeZone(timeZone)) throw invalid('timeZone', 'is not an IANA time zone, such as Europe/Berlin');
}

/** @throws LanefoldError `invalid_input` */
function checkShare({ shareBy, shares, reserve }: LimitDefinition): void {
  const problem = shareBy === undefined ? undefined : dimensionProblem(shareBy);
  if (problem) throw invalid('shareBy', problem);
  for (const [field, values] of Object.entries({ shares, reserve })) {
    if (values === undefined) continue;
    if (shareBy === undefined) throw invalid(field, 'is only for a limit with shareBy');
    assertFew(field, values);
    for (const value of Object.keys(values)) {
      const wrong = valueProblem(shareBy, value);
      if (wrong) throw invalid(`${field}.${value}`, wrong);
    }
  }
  for (const [value, turns] of Object.entries(shares ?? {}))
    if (!(turns >= 0.001 && turns <= 1_000)) throw invalid(`shares.${value}`, 'must be from 0.001 to 1,000');
}

/** An amount as callers read it. @param stored whole text */
export const shownAmount = (kind: LimitKind, stored: string): number =>
  kind === 'money' ? dollarsOf(stored) : Number(stored);

/** A stored limit as a caller would set it, without the defaults. */
export function showDefinition(limit: Omit<StoredLimit, 'version'>): LimitDefinition {
  const { kind, scope, amounts, tokens, perMs, calendar, timeZone, shareBy, shares, reserve, onExhausted } = limit;
  const shown = (amount: bigint) => shownAmount(kind, String(amount));
  const shownAll = (all: Record<string, bigint>) =>
    Object.fromEntries(Object.entries(all).map(([key, one]) => [key, shown(one)]));
  return {
    kind,
    scope,
    amount: shown(limit.amount),
    ...(amounts ? { amounts: shownAll(amounts) } : {}),
    ...(tokens ? { tokens } : {}),
    ...(perMs === null ? {} : { per: nameOf(perMs) ?? perMs }),
    ...(calendar ? { calendar } : {}),
    ...(timeZone === null ? {} : { timeZone }),
    ...(shareBy === null ? {} : { shareBy }),
    ...(shares ? { shares } : {}),
    ...(reserve ? { reserve: shownAll(reserve) } : {}),
    ...(onExhausted === 'wait' ? {} : { onExhausted }),
  };
}

const nameOf = (perMs: number): LimitInterval | undefined =>
  (Object.keys(namedIntervals) as LimitInterval[]).find((name) => namedIntervals[name] === perMs);
