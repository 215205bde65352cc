import { LanefoldError } from '../errors.ts';
import { strategies } from './index.ts';
import type { Machine } from './machine.ts';

/** The machine of a strategy. @throws LanefoldError `unknown_strategy` */
export function findStrategy(name: string): Machine {
  if (typeof name === 'string' && Object.hasOwn(strategies, name)) return strategies[name]!;
  const known = Object.keys(strategies);
  throw new LanefoldError('unknown_strategy', `There is no strategy ${JSON.stringify(name)}.`, {
    hint: `Known: ${known.join(', ')}.`,
    details: { strategy: name, known },
  });
}
