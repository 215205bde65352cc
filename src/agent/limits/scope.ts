import { idGrammar } from '../../base/checks/ids.ts';
import { isBlank, isStorable } from '../../base/checks/text.ts';
import { dimensionGrammar, ownDimensions } from './limit-keys.ts';

/** The longest value of a dimension, in characters. */
const longest = 200;
const ids = new Set(['tenant', 'thread', 'key']);
const isOwn = (dimension: string): boolean => ownDimensions.some((own) => own === dimension);

/** Why a name does not name a dimension; undefined if it does. */
export function dimensionProblem(name: string): string | undefined {
  if (dimensionGrammar.test(name)) return undefined;
  return `${JSON.stringify(name.slice(0, 80))} is not the name of a dimension: use up to 32 of a-z, 0-9 and _, starting with a letter`;
}

/** Why no run has this value in the dimension; undefined if one may. */
export function valueProblem(dimension: string, value: string): string | undefined {
  if (isBlank(value) || value.length > longest || !isStorable(value))
    return `must be a text of 1 to ${longest} characters`;
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
