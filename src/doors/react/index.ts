/**
 * Hooks for React 18 and later on a client of `lanefold/client`.
 *
 * @module react
 */
export { useThread, type UseThread, useRun, type UseRun, useApprovals, type UseApprovals } from './hooks.ts';
export type { ThreadStatus } from './current-run.ts';
export type { Decide, PendingApproval } from './approval.ts';
export type { ThreadMessage } from './messages.ts';
export type { RunState } from './run-store.ts';
export type { SendOptions, ThreadState } from './thread-store.ts';
