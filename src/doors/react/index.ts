/**
 * Hooks for React 18 and later on a client of `lanefold/client`.
 *
 * @module react
 */
export { useThread, type UseThread, useRun, type UseRun, useApprovals, type UseApprovals } from './hooks.ts';
export type { ThreadStatus } from './approval.ts';
export type { Decide, PendingApproval } from './approval.ts';
export type { ThreadMessage } from './messages.ts';
export type { RunState } from './stores.ts';
export type { BranchOptions, SendOptions, ThreadState } from './thread-store.ts';
