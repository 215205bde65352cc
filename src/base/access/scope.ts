/**
 * The scopes of a key. `read`: view what needs no other scope. `run`: start, retry and resume runs, and write to
 * threads. `steer`: steer and cancel active runs. `approve`: approve or deny tool calls. `admin`: everything else, such
 * as configuration, erasure, keys, audit and operations.
 */
export const scopes = ['read', 'run', 'steer', 'approve', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** The restrictions of a key besides its scopes: each field narrows it. */
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
  /** Requests per minute in each process; a burst may use all of them at once. */
  requestsPerMinute?: number;
  /** Maximum number of runs that have not ended. */
  runs?: number;
  /** Maximum number of open event streams in each process. */
  streams?: number;
  /** Maximum bytes of a request body. */
  bodyBytes?: number;
}
