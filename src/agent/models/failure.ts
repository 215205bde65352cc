import type { FallbackReason } from './fallback-reason.ts';

/**
 * What a failed call says about its provider: it has no room or breaks down, wants no call before a time, is silent, cannot be
 * reached, or refuses the key or the account.
 */
export type ProviderFailure = 'overloaded' | 'rate_limited' | 'timeout' | 'connection' | 'auth';

/**
 * How a call ended, as far as it tells whether its provider works: `ok` also for a provider that answers by refusing the request,
 * which is too long, invalid or not wanted. Undefined: the call never got to the provider, and tells nothing.
 */
export type ProviderOutcome = 'ok' | { failure: ProviderFailure; waitMs?: number };

/** What follows from a failure of one kind. */
interface Failure {
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** Why a chain goes to its next model; undefined: another model is not expected to spare it. */
  reason?: FallbackReason;
  /** What the circuit of the model counts; undefined: the call never got to the provider, and tells nothing. */
  circuit?: ProviderFailure | 'ok';
}

/**
 * Every way in which a model call fails. A provider that answers by refusing the request works, as far as its circuit is concerned.
 */
export const failures = {
  /** The model stayed silent, or a limit of the attempt has passed. */
  silent: { retryable: true, reason: 'timeout', circuit: 'timeout' },
  /** HTTP 429 and the like, unless the account has nothing left. */
  rateLimited: { retryable: true, reason: 'rate_limited', circuit: 'rate_limited' },
  /** HTTP 408 or a 5xx, or an error that says the same inside a stream. */
  overloaded: { retryable: true, reason: 'overloaded', circuit: 'overloaded' },
  /** A connection that was lost or a stream that broke, and an answer that may be readable the next time. */
  connection: { retryable: true, reason: 'overloaded', circuit: 'connection' },
  /** The provider answers, and says that the same request may be accepted later. */
  again: { retryable: true, reason: 'overloaded', circuit: 'ok' },
  /** The key or the account: waiting does not help. */
  refused: { retryable: false, reason: 'auth', circuit: 'auth' },
  /** The provider has no such model, or not for this key. */
  noModel: { retryable: false, reason: 'auth', circuit: 'ok' },
  /** This process has no key of the provider. */
  noKey: { retryable: false, reason: 'auth' },
  tooLong: { retryable: false, reason: 'context_too_long', circuit: 'ok' },
  /** The provider refuses this request. */
  invalid: { retryable: false, circuit: 'ok' },
  /** A failure of this process that may pass. */
  ours: { retryable: true, reason: 'overloaded' },
  /** Nothing that a provider, another model or a later call would change, as far as is known. */
  other: { retryable: false },
} as const satisfies Record<string, Failure>;

export type FailureKind = keyof typeof failures;

export const failureOf = (kind: FailureKind): Failure => failures[kind];

/** What the circuit of the model counts of a failed call. */
export function outcomeOf({
  kind,
  retryAfterMs,
}: {
  kind: FailureKind;
  retryAfterMs?: number;
}): ProviderOutcome | undefined {
  const { circuit } = failureOf(kind);
  if (circuit === undefined || circuit === 'ok') return circuit;
  return retryAfterMs === undefined ? { failure: circuit } : { failure: circuit, waitMs: retryAfterMs };
}
