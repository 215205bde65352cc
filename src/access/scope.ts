/**
 * What a key may do. `read` what is there; `run` start, retry and resume runs and write to threads; `steer` runs that are
 * active, and cancel them; `approve` or deny tool calls; `admin` everything else: configure, erase, keys, audit, operations.
 */
export const scopes = ['read', 'run', 'steer', 'approve', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** What a key allows, beside its scopes: each field narrows it. */
export interface Allowed {
  scopes: readonly Scope[];
  /** Only this tenant's threads. */
  tenant?: string;
  /** Only runs of these agents, in threads in which no other agent has run. */
  agents?: readonly string[];
  /** Only threads whose ids begin with this. */
  threadPrefix?: string;
  limits?: KeyLimits;
}

export interface KeyLimits {
  /** Requests per minute, in each process; all of them may come at once. */
  requestsPerMinute?: number;
  /** Runs that have not ended. */
  runs?: number;
  /** Open event streams, in each process. */
  streams?: number;
  /** Bytes of a request body. */
  bodyBytes?: number;
}
