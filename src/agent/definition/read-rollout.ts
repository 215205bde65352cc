import { LanefoldError } from '../../base/errors.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { isLabel } from './check-agent.ts';
import type { Rollout } from './rollout.ts';

/** A rollout as it is set. */
export interface RolloutDefinition {
  /** Shares by label, such as `{ a: 90, b: 10 }`: finite, not negative, one above 0, for 1 to 20 versions. */
  weights: Record<string, number>;
  /** The limit key whose value is hashed instead of the thread. Runs without it hash the thread. */
  key?: string | null;
}

const keys: KeysOf<RolloutDefinition> = { weights: true, key: true };
const most = 20;

/** @throws LanefoldError `invalid_input`; `details.field` names the field */
export function readRollout(definition: RolloutDefinition): Rollout {
  refuseUnknownKeys('The rollout', definition, keys, 'invalid_input');
  const { weights, key = null } = definition;
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights))
    throw invalid('weights', 'must be an object of shares by label, such as {"a": 90, "b": 10}');
  const shares = Object.entries(weights);
  if (shares.length === 0 || shares.length > most) throw invalid('weights', `must have 1 to ${most} versions`);
  for (const [label, share] of shares) {
    if (!isLabel(label)) throw invalid('weights', `has ${JSON.stringify(label)}, which is not a version label`);
    if (typeof share !== 'number' || !Number.isFinite(share) || share < 0)
      throw invalid(`weights.${label}`, 'must be a number of at least 0');
  }
  if (shares.every(([, share]) => share === 0)) throw invalid('weights', 'must have one version above 0');
  if (key !== null && (typeof key !== 'string' || !/^[a-z][a-z0-9_]{0,31}$/.test(key)))
    throw invalid('key', 'must be the name of a limit key, or null for the thread');
  return { weights: Object.fromEntries(shares), key };
}

const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The rollout is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written.',
    details: { field, problem },
  });
