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

/** What concerns every thread of a tenant, or of all: not for a key that is bound to some threads or agents. */
export const overThreads: ReadonlySet<string> = new Set([
  'createKey',
  'listKeys',
  'rotateKey',
  'revokeKey',
  'listAudit',
  'listThreads',
  'listAllRuns',
  'createRuns',
  'listApprovals',
  'eraseTenant',
]);

/** What concerns all tenants: not for a key that is bound to one either. */
export const everywhere: ReadonlySet<string> = new Set(['getActivity']);

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
