import { oneLine } from '../../printable.ts';
import type { Redactor } from '../../redaction/keys.ts';

const quietMs = 10_000;

/**
 * The default for faults that are nobody's run: one line on stderr, the same one at most every ten seconds, because a
 * database that is away fails every statement of every worker.
 */
export function reportFaults(redactor: Redactor): (error: unknown) => void {
  const shownAt = new Map<string, number>();
  return (error) => {
    const message = oneLine(redactor.text(error instanceof Error ? error.message : String(error)));
    const now = performance.now();
    if (now - (shownAt.get(message) ?? -Infinity) < quietMs) return;
    if (shownAt.size > 100) shownAt.clear();
    shownAt.set(message, now);
    console.error(`lanefold worker: ${message}`);
  };
}
