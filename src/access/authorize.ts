import { LanefoldError } from '../errors.ts';
import { may, type Principal } from './principal.ts';
import type { Scope } from './scope.ts';

/** What a request is about, as far as its path and body say. */
export interface Subject {
  scope: Scope;
  tenantId?: string | undefined;
  threadId?: string | undefined;
  runId?: string | undefined;
  agent?: string | undefined;
}

/**
 * Lets a request pass, or says which limit of its key it meets. The tenant of a thread is not checked here: a library for
 * one tenant does not find the threads of others.
 *
 * @throws LanefoldError `forbidden`
 */
export function authorize(principal: Principal, { scope, tenantId, threadId, runId, agent }: Subject): void {
  if (!may(principal, scope)) throw forbidden(`it has no scope ${scope}`);
  const { tenant, threadId: only, runId: onlyRun, threadPrefix, agents } = principal;
  if (tenant !== undefined && tenantId !== undefined && tenant !== tenantId)
    throw forbidden(`it is for tenant ${tenant}`);
  if (only !== undefined && threadId !== only) throw forbidden(`it is for thread ${only} alone`);
  if (onlyRun !== undefined && runId !== onlyRun) throw forbidden(`it is for run ${onlyRun} alone`);
  if (threadPrefix !== undefined && !threadId?.startsWith(threadPrefix)) {
    throw forbidden(`it is for threads that begin with ${threadPrefix}`);
  }
  if (agents && agent !== undefined && !agents.includes(agent))
    throw forbidden(`it is for the agents ${agents.join(', ')}`);
}

const forbidden = (why: string): LanefoldError =>
  new LanefoldError('forbidden', `The key of this request does not allow it: ${why}.`, {
    hint: 'Use a key that does; `lanefold keys list` shows what each one allows.',
  });
