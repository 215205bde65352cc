import { canonicalJson } from './canonical.ts';
import type { Message } from './message.ts';

/** Position of the first message that another context does not have in the same place; undefined where it begins with all. */
export function differsAt(before: readonly Message[], after: readonly Message[]): number | undefined {
  const at = before.findIndex((message, i) => !after[i] || canonicalJson(message) !== canonicalJson(after[i]));
  return at < 0 ? undefined : at;
}
