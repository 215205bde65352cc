import { LanefoldError } from '../../base/errors.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { isLabel } from './agent.ts';
import { createHash } from 'node:crypto';

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

/** Which versions of an agent serve its threads. */
export interface Rollout {
  /** Shares by label, such as `{ a: 90, b: 10 }`: relative to their sum. A version with 0 gets no new threads. */
  weights: Record<string, number>;
  /** The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread. */
  key: string | null;
}

/**
 * The version that a rollout chooses for a key: always the same for the same weights. If the share of one version grows, keys
 * move to this version only; if it shrinks, they move away from this one only (weighted rendezvous hashing: Schindelhauer and
 * Schomaker, "Weighted Distributed Hash Tables", 2005).
 *
 * @returns undefined if every weight is 0
 */
export function chooseVersion(agent: string, { weights }: Pick<Rollout, 'weights'>, key: string): string | undefined {
  let best: { label: string; score: number } | undefined;
  for (const [label, weight] of Object.entries(weights)) {
    if (weight <= 0) continue;
    const score = weight / -Math.log(pointOf(agent, label, key));
    if (!best || score > best.score) best = { label, score };
  }
  return best?.label;
}

/** A number between 0 and 1, both excluded. */
function pointOf(...parts: string[]): number {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  return (hash.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
