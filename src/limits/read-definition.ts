import { z } from 'zod';
import { refuseUnknownKeys, type KeysOf } from '../checks/unknown-keys.ts';
import { omitUndefined } from '../common/omit-undefined.ts';
import { checkInterval, checkScope, checkShare } from './check-definition.ts';
import { namedIntervals, type LimitDefinition, type LimitInterval } from './definition.ts';
import { invalid } from './invalid-limit.ts';
import { isOfRuns } from './demand.ts';
import { limitKinds, onExhausted, type StoredLimit } from './limit.ts';
import { amountOf, amountsOf, reserveOf } from './read-amounts.ts';

const shortestMs = 1_000;
const longestMs = 31 * 86_400_000;

const keys: KeysOf<LimitDefinition> = {
  ...{ kind: true, amount: true, scope: true, amounts: true, tokens: true, per: true, calendar: true },
  ...{ timeZone: true, share: true, weights: true, reserve: true, onExhausted: true },
};

const names = Object.keys(namedIntervals) as LimitInterval[];
const record = <V extends z.ZodType>(value: V) => z.record(z.string(), value).optional();
const oneOf = <const V extends string>(values: readonly V[]) =>
  z.enum(values, { error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` });

const number = z.number({ error: 'must be a number' });
const Fields = z.object({
  kind: oneOf(limitKinds),
  amount: number,
  scope: record(z.string({ error: 'must be a text' })),
  amounts: record(number),
  tokens: oneOf(['input', 'output', 'total']).optional(),
  per: z
    .union([z.enum(names), z.int().min(shortestMs).max(longestMs)], {
      error: `must be ${names.join(', ')}, or a whole number of ms from ${shortestMs} to ${longestMs}`,
    })
    .optional(),
  calendar: oneOf(['day', 'week', 'month']).optional(),
  timeZone: z.string({ error: 'must be a text' }).optional(),
  share: z.string({ error: 'must be a text' }).optional(),
  weights: record(number),
  reserve: record(number),
  onExhausted: oneOf([...onExhausted]).optional(),
});

/**
 * Checks a limit that a caller sets.
 *
 * @param owner the tenant whose limit it is, or `*`
 * @throws LanefoldError `invalid_input`; `details.field` is the path of the field, such as `scope.customer`
 */
export function readDefinition(given: LimitDefinition, owner: string): Omit<StoredLimit, 'version'> {
  refuseUnknownKeys('A limit', given, keys);
  const parsed = Fields.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(issue!.path.join('.') || 'definition', issue!.path.length > 0 ? issue!.message : 'must be an object');
  }
  const fields: LimitDefinition = omitUndefined(parsed.data);
  checkScope(fields, owner);
  checkInterval(fields);
  checkShare(fields);
  if (fields.onExhausted === 'notice' && isOfRuns(fields))
    throw invalid('onExhausted', `cannot be notice for the kind ${fields.kind}, which delays runs`);
  if (fields.tokens !== undefined && fields.kind !== 'tokens') throw invalid('tokens', 'is only for the kind tokens');
  const { kind, per, weights = {} } = fields;
  return {
    ...{ kind, scope: fields.scope ?? {} },
    amount: amountOf(kind, fields.amount, 'amount'),
    amounts: amountsOf(fields),
    tokens: kind === 'tokens' ? (fields.tokens ?? 'total') : null,
    perMs: typeof per === 'string' ? namedIntervals[per] : (per ?? null),
    calendar: fields.calendar ?? null,
    timeZone: fields.timeZone ?? null,
    share: fields.share ?? null,
    weights: Object.keys(weights).length > 0 ? weights : null,
    reserve: reserveOf(fields),
    onExhausted: fields.onExhausted ?? 'wait',
  };
}
