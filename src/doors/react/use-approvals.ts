import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../client/client.ts';
import type { LanefoldClientError } from '../client/errors.ts';
import type { Decide, PendingApproval } from './approval.ts';
import { inboxStore, threadStore } from './stores.ts';

export interface UseApprovals {
  approvals: PendingApproval[];
  /** The call disappears at once, and comes back if the server refuses the decision. */
  approve: Decide;
  deny: Decide;
  error: LanefoldClientError | undefined;
}

/** How often the calls of all threads are read, in ms. */
const defaultPollMs = 5_000;

/**
 * The tool calls that wait for approval: those of one thread, live, or those of all threads, read every few seconds,
 * for which the client needs a key.
 *
 * @example
 * ```ts
 * import { createClient } from 'lanefold/client';
 * import { useApprovals } from 'lanefold/react';
 *
 * const client = createClient({ url: '', getToken: async () => (await fetch('/token')).text() });
 *
 * export function useFirstApproval(threadId: string) {
 *   const { approvals, approve, deny } = useApprovals(client, { threadId });
 *   const [first] = approvals;
 *   return first && { question: first.name, yes: () => approve(first), no: () => deny(first, { reason: 'No.' }) };
 * }
 * ```
 */
export function useApprovals(client: Client, options: { threadId?: string; pollMs?: number } = {}): UseApprovals {
  const { threadId, pollMs = defaultPollMs } = options;
  const store = useMemo(
    () => (threadId === undefined ? inboxStore(client, pollMs) : threadStore(client, threadId)),
    [client, threadId, pollMs],
  );
  const { approvals, error } = useSyncExternalStore<Pick<UseApprovals, 'approvals' | 'error'>>(
    store.subscribe,
    store.state,
    () => store.initial,
  );
  const { approve, deny } = store;
  return { approvals, error, approve, deny };
}
