import { isTimeZone } from '../checks/time-zone.ts';
import type { LimitDefinition } from './definition.ts';
import { assertFew, invalid } from './invalid-limit.ts';
import { dimensionProblem, valueProblem } from './scope.ts';

const mostDimensions = 8;

/** @throws LanefoldError `invalid_input` */
export function checkScope({ scope = {} }: LimitDefinition, owner: string): void {
  if (Object.keys(scope).length > mostDimensions) throw invalid('scope', `has more than ${mostDimensions} dimensions`);
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
export function checkInterval({ kind, per, calendar, timeZone }: LimitDefinition): void {
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
export function checkShare({ share, weights, reserve }: LimitDefinition): void {
  const problem = share === undefined ? undefined : dimensionProblem(share);
  if (problem) throw invalid('share', problem);
  for (const [field, values] of Object.entries({ weights, reserve })) {
    if (values === undefined) continue;
    if (share === undefined) throw invalid(field, 'is only for a limit with share');
    assertFew(field, values);
    for (const value of Object.keys(values)) {
      const wrong = valueProblem(share, value);
      if (wrong) throw invalid(`${field}.${value}`, wrong);
    }
  }
  for (const [value, weight] of Object.entries(weights ?? {}))
    if (!(weight >= 0.001 && weight <= 1_000)) throw invalid(`weights.${value}`, 'must be from 0.001 to 1,000');
}
