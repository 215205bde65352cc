/** Edit distance of two short strings. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

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
