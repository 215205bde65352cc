import { canonicalJson } from './canonical.ts';
import type { Message } from './message.ts';

/**
 * Position of the first message of `before` that differs in `after` or is missing there; undefined if `after` begins
 * with all of `before`.
 */
export function differsAt(before: readonly Message[], after: readonly Message[]): number | undefined {
  const at = before.findIndex((message, i) => !after[i] || canonicalJson(message) !== canonicalJson(after[i]));
  return at < 0 ? undefined : at;
}
