import { distance } from 'fastest-levenshtein';

/**
 * The candidate a user most likely meant; undefined if every one differs by more than two letters and a third of the
 * name.
 */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  const typed = name.slice(0, 100).toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(Math.min(2, typed.length - 1), Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const d = distance(typed, candidate.toLowerCase());
    if (d < bestDistance) [best, bestDistance] = [candidate, d];
  }
  return best;
}
