import { LanefoldError } from '../../base/errors.ts';
import { adaptive } from './adaptive.ts';
import { aot } from './aot.ts';
import { cod, cot } from './chain.ts';
import { compaction } from './compaction.ts';
import { got } from './got.ts';
import type { StrategyMachine } from './machine.ts';
import { react } from './react.ts';
import { tot } from './tot/tot.ts';
import { trm } from './trm.ts';
import type { JsonObject } from '../context/message.ts';
import { snakeKeys } from '../../base/common/case.ts';

/** A strategy of any kind. The runtime treats its state, memory and options as opaque. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Strategy = StrategyMachine<any, any>;

/** The built-in strategies, which every process knows. */
export const builtIn: readonly Strategy[] = [react, cot, cod, aot, tot, got, trm, adaptive];

export interface StrategyRegistry {
  readonly names: string[];
  has(name: string): boolean;
  /** @throws LanefoldError `unknown_strategy` */
  find(name: string): Strategy;
}

const validName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Creates a registry of the built-in strategies and `own`.
 *
 * @throws LanefoldError `invalid_strategy` for a bad name, or one that is taken
 */
export function createStrategyRegistry(own: readonly Strategy[] = []): StrategyRegistry {
  const byName = new Map<string, Strategy>(builtIn.map((strategy) => [strategy.name, strategy]));
  for (const strategy of own) {
    const { name } = Object(strategy) as Strategy;
    if (typeof name !== 'string' || !validName.test(name)) {
      throw invalid(name, 'its name must be 1 to 64 characters of [A-Za-z0-9_.-], starting with a letter or digit');
    }
    const known = byName.get(name);
    if (name === compaction.name || (known && known !== strategy))
      throw invalid(name, 'another strategy has that name');
    byName.set(name, strategy);
  }
  const names = [...byName.keys()];
  return {
    names,
    has: (name) => byName.has(name),
    find(name) {
      const strategy = byName.get(name);
      if (strategy) return strategy;
      throw new LanefoldError('unknown_strategy', `Strategy ${JSON.stringify(name)} does not exist.`, {
        hint: `Known: ${names.join(', ')}.`,
        details: { strategy: name, known: names },
      });
    },
  };
}

const invalid = (name: unknown, why: string): LanefoldError =>
  new LanefoldError('invalid_strategy', `The strategy ${JSON.stringify(name)} is invalid: ${why}.`, {
    hint: 'Fix it where it is passed to createLanefold or defineAgent.',
  });

/**
 * The stored form of the options of a strategy: in snake_case, with defaults filled in.
 *
 * @throws LanefoldError `invalid_strategy_options` naming the first wrong one
 */
export function parseOptions(strategy: Strategy, given: object | undefined): JsonObject | undefined {
  if (!strategy.options) {
    if (given === undefined || Object.keys(given).length === 0) return undefined;
    throw invalidOptions(strategy.name, 'it takes none');
  }
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw invalidOptions(strategy.name, 'they are not an object');
  }
  const parsed = strategy.options.safeParse(snakeKeys(given ?? {}));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue!.path.map(String).join('.');
  throw invalidOptions(strategy.name, `${path ? `${path}: ` : ''}${issue!.message}`);
}

const invalidOptions = (name: string, why: string): LanefoldError =>
  new LanefoldError('invalid_strategy_options', `The options for the strategy ${name} are invalid: ${why}.`, {
    hint: 'docs/reference/strategies.md lists the options of each strategy. Nothing was written.',
  });
