import type { Principal } from '../../access/principal.ts';
import type { Library } from '../../library/library.ts';

/** A repeated read is not audited again for this long. */
const againMs = 10 * 60_000;
/** Limit on remembered reads. */
const remembered = 10_000;

interface Read {
  operation: string;
  threadId?: string | undefined;
  runId?: string | undefined;
}

/**
 * Audits reads by keys that are not bound to a tenant: once in ten minutes per operation and thread, so that a polling
 * page does not flood the audit.
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
