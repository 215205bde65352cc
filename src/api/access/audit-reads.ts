import type { Principal } from '../../access/principal.ts';
import type { Library } from '../../library/library.ts';

/** How long a read is not written down again. */
const againMs = 10 * 60_000;
/** Reads remembered at most. */
const remembered = 10_000;

interface Read {
  operation: string;
  threadId?: string | undefined;
  runId?: string | undefined;
}

/**
 * Writes down what a key reads that is bound to no tenant: once in ten minutes for each operation and thread, so that a page
 * that looks again and again does not fill the audit.
 */
export function auditReads(audit: Library['audit']): (principal: Principal, read: Read) => Promise<void> {
  const written = new Map<string, number>();
  return async ({ actor, tenant }, { operation, threadId, runId }) => {
    if (tenant !== undefined) return;
    const key = `${actor} ${operation} ${threadId ?? ''}`;
    const now = performance.now();
    if (now - (written.get(key) ?? -Infinity) < againMs) return;
    await audit.writeRead({ actor, action: operation, threadId, runId });
    if (written.size >= remembered) written.clear();
    written.set(key, now);
  };
}
