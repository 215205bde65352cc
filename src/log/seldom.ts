const quietMs = 10_000;

/** Tells whether a line is due: the same one at most every ten seconds, because an outage fails everything at once. */
export function seldom(): (line: string) => boolean {
  const shownAt = new Map<string, number>();
  return (line) => {
    const now = performance.now();
    if (now - (shownAt.get(line) ?? -Infinity) < quietMs) return false;
    if (shownAt.size > 100) shownAt.clear();
    shownAt.set(line, now);
    return true;
  };
}
