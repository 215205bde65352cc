import type { Scope } from '../../access/scope.ts';

/**
 * The scope that each operation needs, by its `operationId`. An operation that is missing here needs `admin`: nobody gets
 * in because somebody forgot it.
 */
export const operationScopes: Readonly<Record<string, Scope>> = {
  listThreads: 'read',
  listAllRuns: 'read',
  listApprovals: 'read',
  listAgents: 'read',
  getActivity: 'read',
  listWorkers: 'read',
  getCall: 'read',
  getThread: 'read',
  getConfig: 'read',
  listLanes: 'read',
  getContext: 'read',
  diffContexts: 'read',
  listEntries: 'read',
  readContent: 'read',
  listUiMessages: 'read',
  listThreadEvents: 'read',
  listRuns: 'read',
  getRun: 'read',
  listRunEvents: 'read',
  listInputs: 'read',
  listNodes: 'read',
  listMarks: 'read',
  listTools: 'read',
  collectRun: 'read',
  createBrowserToken: 'read',
  createThread: 'run',
  appendEntries: 'run',
  replayCall: 'run',
  createRun: 'run',
  createRuns: 'run',
  retryRun: 'run',
  rerunRun: 'run',
  forkThread: 'run',
  resumeRun: 'run',
  createCheckpoint: 'run',
  steerRun: 'steer',
  injectRun: 'steer',
  cancelRun: 'steer',
  cancelByToken: 'steer',
  approveToolCall: 'approve',
  denyToolCall: 'approve',
};

/**
 * Operations that name no thread and show nothing of any. Every other one that names none concerns all threads: it is not for
 * a key that is bound to some threads or agents.
 */
export const aboutNoThread: ReadonlySet<string> = new Set(['listAgents', 'getActivity']);

/** What concerns all tenants: not for a key that is bound to one either. */
export const everywhere: ReadonlySet<string> = new Set(['getActivity', 'listWorkers']);

/** What is written to the audit before it is done. */
export const audited: ReadonlySet<string> = new Set([
  'changeConfig',
  'applyContextOperation',
  'resetLane',
  'compactLane',
  'replayCall',
  'forkThread',
  'rerunRun',
  'cancelRun',
  'cancelByToken',
  'approveToolCall',
  'denyToolCall',
  'eraseThread',
  'eraseTenant',
]);
