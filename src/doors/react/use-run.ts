import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../client/client.ts';
import type { Content, RunRef, RunSnapshot } from '../client/operations.ts';
import type { ResultOr, RunOf } from '../client/types.ts';
import type { Decide } from './approval.ts';
import type { RunState } from './run-store.ts';
import { runStore } from './stores.ts';

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
 * the address, and it goes on after a reload.
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
