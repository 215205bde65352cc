import { toCamelCase, toSnakeCase } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';

/*
 * Names are camelCase in TypeScript and snake_case on the wire. Only the fields of the API itself are renamed: what
 * users, models and providers wrote passes through untouched, under whatever keys it has.
 */

/** Fields of an answer whose values are data: their keys stay as they are. */
export const dataInAnswers: ReadonlySet<string> = new Set([
  'answer',
  'arguments',
  'content',
  'context_policy',
  'data',
  'details',
  'entry',
  'input_schema',
  'message',
  'messages',
  'metadata',
  'other_usage',
  'output',
  'parts',
  'payload',
  'policy',
  'refs',
  'result',
  'state',
  'tool_context',
  'usage',
  'amounts',
  'reserve',
  'scope',
  'waiting_by',
  'shares',
]);

/** Lists, whose items have fields, under a name that data has elsewhere: the items of a page, and the keys of a limit. */
export const isListOfItems = (name: string, isArray: boolean): boolean =>
  isArray && (name === 'data' || name === 'usage');

/** Fields of a request whose values are data. */
export const dataInRequests: ReadonlySet<string> = new Set([
  'arguments',
  'content',
  'entries',
  'extra_refs',
  'headers',
  'input',
  'limit_keys',
  'meta',
  'metadata',
  'payload',
  'provider_options',
  'query',
  'refs',
  'result',
  'schema',
  'strategy_options',
  'tool_context',
]);

/** An answer of the API with camelCase names. */
export const fromWire = (value: unknown): unknown =>
  rename(value, toCamelCase, (name, item) => dataInAnswers.has(name) && !isListOfItems(name, Array.isArray(item)));

/** The body of a request with snake_case names, without fields that are undefined. */
export const toWire = (value: object): unknown =>
  rename(value, toSnakeCase, (name) => dataInRequests.has(toSnakeCase(name)));

function rename(
  value: unknown,
  to: (name: string) => string,
  isData: (name: string, item: unknown) => boolean,
): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, to, isData));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(omitUndefined(value)).map(([name, item]) => [
      to(name),
      isData(name, item) ? item : rename(item, to, isData),
    ]),
  );
}
