import type { JsonObject } from '../context/message.ts';
import { snakeKeys } from '../../base/common/case.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Strategy } from './registry.ts';

/**
 * The stored form of the options of a strategy: in snake_case, with defaults filled in.
 *
 * @throws LanefoldError `invalid_strategy_options` naming the first wrong one
 */
export function parseOptions(strategy: Strategy, given: object | undefined): JsonObject | undefined {
  if (!strategy.options) {
    if (given === undefined || Object.keys(given).length === 0) return undefined;
    throw invalid(strategy.name, 'it takes none');
  }
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw invalid(strategy.name, 'they are not an object');
  }
  const parsed = strategy.options.safeParse(snakeKeys(given ?? {}));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue!.path.map(String).join('.');
  throw invalid(strategy.name, `${path ? `${path}: ` : ''}${issue!.message}`);
}

const invalid = (name: string, why: string): LanefoldError =>
  new LanefoldError('invalid_strategy_options', `The options for the strategy ${name} are invalid: ${why}.`, {
    hint: 'docs/strategies.md lists the options of each strategy. Nothing was written.',
  });
