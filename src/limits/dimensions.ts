import type { Limit } from './limit.ts';

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
    return key === undefined ? [] : [{ limit, place: placeOf(limit, key) }];
  });
  return placed.sort((a, b) => (a.place < b.place ? -1 : 1));
}
