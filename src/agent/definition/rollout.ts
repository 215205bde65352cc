import { createHash } from 'node:crypto';

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
