import { defaultTenant, idGrammar } from '../../base/checks/ids.ts';
import type { Limit } from './limit.ts';
import { isBlank, isStorable } from '../../base/checks/values.ts';
import { LanefoldError } from '../../base/errors.ts';

/** What limits may apply to: the values of a run or of a model call. */
export type Dimensions = Readonly<Record<string, string | undefined>>;

/** The key of the bucket that a limit has for these values; undefined if the limit does not apply to them. */
function bucketKey({ scope }: Pick<Limit, 'scope'>, dimensions: Dimensions): string | undefined {
  const each: string[] = [];
  for (const dimension of Object.keys(scope).sort()) {
    const value = dimensions[dimension];
    if (value === undefined) return undefined;
    if (scope[dimension] === '*') each.push(value);
    else if (scope[dimension] !== value) return undefined;
  }
  return each.join('/');
}

/**
 * Whether a limit of the operator counts the values that requests choose apart for each tenant. Tenants could otherwise
 * see each other in such a value, and use up what another one has of it.
 */
const isByTenant = ({ owner, scope }: Pick<Limit, 'owner' | 'scope'>): boolean =>
  owner === '*' &&
  scope['tenant'] === undefined &&
  Object.keys(scope).some((name) => scope[name] === '*' && !ownDimensions.some((own) => own === name));

/** No value begins with a slash, so that no key of another tenant is like one with a tenant. */
const ofTenant = (key: string, tenant: string): string => (tenant === defaultTenant ? key : `//${tenant}/${key}`);

/** A key without the tenant for which it is counted: what the amounts of the limit name. */
export const valueOf = (key: string): string => (key.startsWith('//') ? key.slice(key.indexOf('/', 2) + 1) : key);

/** A bucket as `use_limits` names it. */
const placeOf = ({ owner, name }: Pick<Limit, 'owner' | 'name'>, key: string): string => `${owner} ${name} ${key}`;

/** The name of the limit in a place. */
export const placeName = (place: string): string => place.split(' ')[1]!;

/** The key of the bucket in a place. */
export const placeKey = (place: string): string => place.split(' ').slice(2).join(' ');

/** The limits that apply to a run of `tenant`, with their places, by place. */
export function placesOf(
  limits: readonly Limit[],
  tenant: string,
  dimensions: Dimensions,
): { limit: Limit; place: string }[] {
  const placed = limits.flatMap((limit) => {
    if (limit.owner !== '*' && limit.owner !== tenant) return [];
    const key = bucketKey(limit, dimensions);
    if (key === undefined) return [];
    return [{ limit, place: placeOf(limit, isByTenant(limit) ? ofTenant(key, tenant) : key) }];
  });
  return placed.sort((a, b) => (a.place < b.place ? -1 : 1));
}

/** Maximum characters of a value of a dimension. */
const maxChars = 200;
const ids = new Set(['tenant', 'thread', 'key']);
const isOwn = (dimension: string): boolean => ownDimensions.some((own) => own === dimension);

/** Why a name does not name a dimension; undefined if it does. */
export function dimensionProblem(name: string): string | undefined {
  if (dimensionGrammar.test(name)) return undefined;
  return `${JSON.stringify(name.slice(0, 80))} is not the name of a dimension: use up to 32 of a-z, 0-9 and _, starting with a letter`;
}

/** Why no run has this value in the dimension; undefined if one may. */
export function valueProblem(dimension: string, value: string): string | undefined {
  if (isBlank(value) || value.length > maxChars || !isStorable(value))
    return `must be a text of 1 to ${maxChars} characters`;
  if (ids.has(dimension) && !idGrammar.test(value)) return 'is not a valid id';
  if (!isOwn(dimension) && value.includes('/')) return 'must not contain /';
  return undefined;
}

/** The dimensions of a scope each of whose values has a bucket, in the order of the bucket's key. */
export const eachOf = (scope: Readonly<Record<string, string>>): string[] =>
  Object.keys(scope)
    .filter((dimension) => scope[dimension] === '*')
    .sort();

/** Why a bucket with this key cannot exist, see `bucketKey`; undefined if it can. */
export function bucketProblem(each: readonly string[], key: string): string | undefined {
  const [only] = each;
  if (each.length === 1) return valueProblem(only!, key);
  const parts = key.split('/');
  // names of models may contain a slash
  const fits = each.includes('model') ? parts.length >= each.length : parts.length === each.length;
  if (fits && parts.every((part) => part !== '') && isStorable(key)) return undefined;
  return `must name a value of each of ${each.join(', ')}, in this order, joined by /`;
}

/** Dimensions that every run has; a request cannot set them. */
const ownDimensions = ['tenant', 'key', 'agent', 'model', 'provider', 'thread'] as const;

/** The name of a dimension. */
const dimensionGrammar = /^[a-z][a-z0-9_]{0,31}$/;

const maxKeys = 8;

/** @throws LanefoldError `invalid_input` */
export function assertLimitKeys(keys: unknown): void {
  if (keys === undefined) return;
  const entries = keys !== null && typeof keys === 'object' && !Array.isArray(keys) ? Object.entries(keys) : undefined;
  if (!entries) throw invalid('limitKeys is not an object');
  if (entries.length > maxKeys) throw invalid(`limitKeys has more than ${maxKeys} keys`);
  for (const [name, value] of entries) {
    if (!dimensionGrammar.test(name)) throw invalid(`limitKeys has the name ${JSON.stringify(name)}`);
    if (ownDimensions.some((own) => own === name)) throw invalid(`limitKeys sets ${name}, which every run has already`);
    if (typeof value !== 'string' || value === '' || value.length > maxChars || value === '*' || value.includes('/'))
      throw invalid(`limitKeys.${name} is not a text of 1 to ${maxChars} characters without /`);
  }
}

const invalid = (problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `${problem}.`, {
    hint: "Pass values by name, such as limitKeys: { customer: 'acme' }. Names are up to 32 letters, digits and _, and begin with a letter.",
  });
