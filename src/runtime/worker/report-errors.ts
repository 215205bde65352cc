import { oneLine } from '../../printable.ts';
import type { Redactor } from '../../redaction/sensitive-keys.ts';

const quietMs = 10_000;

/**
 * The default handler for errors not tied to a run: one line on stderr, the same line at most every ten seconds, because
 * an unreachable database fails every statement of every worker.
 */
export function reportErrors(redactor: Redactor): (error: unknown) => void {
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
