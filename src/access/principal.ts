import type { Allowed, KeyLimits, Scope } from './scope.ts';
import { scopes } from './scope.ts';

/** Who makes a request. */
export interface Principal extends Allowed {
  /** For the audit and the log: `operator`, `key:<id>` or `token:<id of the key that made it>`. */
  actor: string;
  /** What all keys of its tenant together may do. */
  tenantLimits?: KeyLimits;
  /** Only this thread, and of it only this run. */
  threadId?: string;
  runId?: string;
  /** Only these operations, each with the fields that a body may have. */
  operations?: Readonly<Record<string, readonly string[]>>;
  /** When it ends by itself, in ms as of `Date.now()`. */
  expiresAtMs?: number;
}

/** The holder of LANEFOLD_API_KEY; without one, whoever is on this machine. */
export const operator: Principal = { actor: 'operator', scopes };

export const may = (principal: Principal, scope: Scope): boolean => principal.scopes.includes(scope);

/** Whether a principal sees everything, so that what spans tenants is open to it. */
export const isUnbound = (principal: Principal): boolean => principal.tenant === undefined && seesThreads(principal);

/** Whether a principal sees every thread of its tenant, so that what spans threads is open to it. */
export const seesThreads = (principal: Principal): boolean =>
  principal.agents === undefined && principal.threadPrefix === undefined && principal.threadId === undefined;
