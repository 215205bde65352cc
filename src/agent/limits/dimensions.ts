import { defaultTenant } from '../../base/checks/ids.ts';
import type { Limit } from './limit.ts';
import { ownDimensions } from './limit-keys.ts';

/** What limits may apply to: the values of a run or of a model call. */
export type Dimensions = Readonly<Record<string, string | undefined>>;

/** The key of the bucket that a limit has for these values; undefined if the limit does not apply to them. */
export function bucketKey({ scope }: Pick<Limit, 'scope'>, dimensions: Dimensions): string | undefined {
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
export const placeOf = ({ owner, name }: Pick<Limit, 'owner' | 'name'>, key: string): string =>
  `${owner} ${name} ${key}`;

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
