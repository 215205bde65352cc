import { LanefoldError } from '../errors.ts';
import { cod } from './chain/cod.ts';
import { cot } from './chain/cot.ts';
import type { Machine } from './machine.ts';
import { react } from './react/machine.ts';

/** All strategies by name. The runtime treats a machine's state as opaque, hence the cast. */
export const strategies = Object.fromEntries(
  [react, cot, cod].map((machine) => [machine.name, machine]),
) as unknown as Record<string, Machine>;

/** @throws LanefoldError `unknown_strategy` */
export function findStrategy(name: string): Machine {
  if (typeof name === 'string' && Object.hasOwn(strategies, name)) return strategies[name]!;
  const known = Object.keys(strategies);
  throw new LanefoldError('unknown_strategy', `There is no strategy ${JSON.stringify(name)}.`, {
    hint: `Known: ${known.join(', ')}.`,
    details: { strategy: name, known },
  });
}
