import type { Allowed, KeyLimits, Scope } from './scope.ts';
import { scopes } from './scope.ts';

/** Who makes a request. */
export interface Principal extends Allowed {
  /** For the audit and the log: `operator`, `key:<id>` or `token:<id of the key that made it>`. */
  actor: string;
  /** The limits that all keys of its tenant share. */
  tenantLimits?: KeyLimits;
  /** Restricts access to this thread and, if `runId` is set, to this run in it. */
  threadId?: string;
  runId?: string;
  /** Restricts access to these operations, each with the fields that its body may have. */
  operations?: Readonly<Record<string, readonly string[]>>;
  /** When it expires, in ms as returned by `Date.now()`. */
  expiresAtMs?: number;
}

/** The holder of LANEFOLD_API_KEY; on a server without a key, anyone on this machine. */
export const operator: Principal = { actor: 'operator', scopes };

export const may = (principal: Principal, scope: Scope): boolean => principal.scopes.includes(scope);

/** Whether a principal sees everything and may therefore use operations that span tenants. */
export const isUnbound = (principal: Principal): boolean => principal.tenant === undefined && seesThreads(principal);

/** Whether a principal sees every thread of its tenant and may therefore use operations that span threads. */
export const seesThreads = (principal: Principal): boolean =>
  principal.agents === undefined && principal.threadPrefix === undefined && principal.threadId === undefined;
