import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../client/client.ts';
import type { Content } from '../client/operations.ts';
import type { RunHandle } from '../client/types.ts';
import type { Decide } from './approval.ts';
import { threadStore } from './stores.ts';
import type { SendOptions, ThreadState } from './thread-store.ts';

export interface UseThread extends ThreadState {
  /**
   * Asks the agent. The message is shown at once, and taken back if the server refuses it. The first one creates the
   * thread. @throws LanefoldClientError `thread_busy` while a run is active, unless `busy` says otherwise
   */
  send: (input: Content, options?: SendOptions) => Promise<RunHandle>;
  /** Sends input to the active run. The server refuses it for a run that has ended. */
  steer: (content: Content) => Promise<void>;
  /** Cancels the active run, even one whose question is still on its way. A question asked with `busy: 'wait'` goes on. */
  cancel: (reason?: string) => Promise<void>;
  approve: Decide;
  deny: Decide;
  /** Adds the messages before the first one, if `hasEarlier`. */
  loadEarlier: () => Promise<void>;
}

/**
 * A conversation: its messages, the answer as it is written, approvals, and what a user does. After a reload it goes on
 * with what is running. Components with the same client and thread share one stream.
 *
 * @param client made once, outside of components
 * @param options.agent the agent that answers
 *
 * @example
 * ```ts
 * import { createClient } from 'lanefold/client';
 * import { useThread } from 'lanefold/react';
 *
 * const client = createClient({ url: '', getToken: async () => (await fetch('/token')).text() });
 *
 * export function useSupport() {
 *   const { messages, status, send } = useThread(client, 'support-42', { agent: 'support' });
 *   return { messages, busy: status !== 'ready', ask: (text: string) => void send(text) };
 * }
 * ```
 */
export function useThread(client: Client, threadId: string, options: { agent: string }): UseThread {
  const store = useMemo(() => threadStore(client, threadId), [client, threadId]);
  const state = useSyncExternalStore(store.subscribe, store.state, () => store.initial);
  const { agent } = options;
  const send = useCallback((input: Content, given?: SendOptions) => store.send(agent, input, given), [store, agent]);
  const { steer, cancel, approve, deny, loadEarlier } = store;
  return { ...state, send, steer, cancel, approve, deny, loadEarlier };
}
