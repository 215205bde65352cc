import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../client/client.ts';
import type { Content, RunRef, RunSnapshot } from '../client/operations.ts';
import type { RunHandle, ResultOr, RunOf } from '../client/types.ts';
import type { Decide, PendingApproval } from './approval.ts';
import { threadStore, runStore, inboxStore, type RunState } from './stores.ts';
import type { BranchOptions, SendOptions, ThreadState } from './thread-store.ts';
import type { LanefoldClientError } from '../client/errors.ts';

export interface UseThread extends ThreadState {
  /**
   * Asks the agent. The message is shown at once, and taken back if the server refuses it. The first one creates the
   * thread. @throws LanefoldClientError `thread_busy` while a run is active, unless `busy` says otherwise
   */
  send: (input: Content, options?: SendOptions) => Promise<RunHandle>;
  /**
   * Asks something else in the place of a question, on a new branch that is then shown. The other branch stays.
   * @throws LanefoldClientError as `send`; `invalid_input` for a question that no worker has begun with
   */
  edit: (messageId: string, input: Content, options?: BranchOptions) => Promise<RunHandle>;
  /** Answers a question again, on a new branch. @param messageId the question, or its answer; default: the last one */
  regenerate: (messageId?: string, options?: BranchOptions) => Promise<RunHandle>;
  /**
   * Shows another branch: a lane of `metadata.versions` of a message. While a run is active, the server shows the branch when
   * the run ends.
   */
  select: (lane: string) => Promise<void>;
  /** Sends input to the active run. The server refuses it for a run that has ended. */
  steer: (content: Content) => Promise<void>;
  /** Cancels the active run, even one whose question is still on its way. A question asked with `busy: 'wait'` stays queued. */
  cancel: (reason?: string) => Promise<void>;
  approve: Decide;
  deny: Decide;
  /** Adds the messages before the first one, if `hasEarlier`. */
  loadEarlier: () => Promise<void>;
}

/**
 * A conversation: its messages, the answer as it is written, approvals, and what a user does. After a reload it continues
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
  const edit = useCallback(
    (messageId: string, input: Content, given?: BranchOptions) => store.edit(agent, messageId, input, given),
    [store, agent],
  );
  const regenerate = useCallback(
    (messageId?: string, given?: BranchOptions) => store.regenerate(agent, messageId, given),
    [store, agent],
  );
  const { select, steer, cancel, approve, deny, loadEarlier } = store;
  return { ...state, send, edit, regenerate, select, steer, cancel, approve, deny, loadEarlier };
}

export interface UseRun<RESULT> extends Omit<RunState, 'run'> {
  /** Undefined until it is read. */
  run: RunSnapshot<ResultOr<RESULT>> | undefined;
  /** Whether it has ended. */
  ended: boolean;
  /** Sends input to the run. */
  steer: (content: Content) => Promise<void>;
  /** Cancels the run. Harmless if it has ended. */
  cancel: (reason?: string) => Promise<void>;
  approve: Decide;
  deny: Decide;
}

/**
 * A run: its state, the answer as it is written, approvals, and its result. Keep `threadId` and `id`, for instance in
 * the address, and it continues after a reload.
 *
 * @example
 * ```ts
 * import { createClient } from 'lanefold/client';
 * import { useRun } from 'lanefold/react';
 *
 * const client = createClient({ url: '', getToken: async () => (await fetch('/token')).text() });
 *
 * export function useReport(threadId: string, id: string) {
 *   const { run, text, ended, cancel } = useRun(client, { threadId, id });
 *   return { status: run?.status, text: ended ? run?.result : text, cancel };
 * }
 * ```
 */
export function useRun<RESULT>(client: Client, run: RunOf<RESULT>): UseRun<RESULT> {
  const { threadId, id } = run as RunRef;
  const store = useMemo(() => runStore(client, { threadId, id }), [client, threadId, id]);
  const state = useSyncExternalStore(store.subscribe, store.state, () => store.initial);
  const { steer, cancel, approve, deny } = store;
  const ended = state.run !== undefined && state.run.finishedAt !== null;
  return { ...state, run: state.run as UseRun<RESULT>['run'], ended, steer, cancel, approve, deny };
}

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
 * The tool calls that wait for approval: of one thread, live, or of all threads, read every few seconds,
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
