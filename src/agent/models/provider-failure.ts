import type { ModelError } from './model-error.ts';

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

export function outcomeOf({
  errorType,
  retryable,
  statusCode,
  retryAfterMs,
  tooLong,
}: ModelError): ProviderOutcome | undefined {
  const failed = (failure: ProviderFailure): ProviderOutcome =>
    retryAfterMs === undefined ? { failure } : { failure, waitMs: retryAfterMs };
  if (tooLong) return 'ok';
  if (errorType === 'timeout') return failed('timeout');
  if (!ofProvider.has(errorType)) return undefined;
  if (statusCode === undefined) return retryable ? failed('connection') : undefined;
  if (statusCode === 429) return failed(retryable ? 'rate_limited' : 'auth');
  if (refusesAccount.has(statusCode)) return failed('auth');
  if (statusCode === 408 || statusCode >= 500) return failed('overloaded');
  return 'ok';
}

const ofProvider: ReadonlySet<string> = new Set(['llm_request', 'llm_stream', 'llm_response']);
const refusesAccount: ReadonlySet<number> = new Set([401, 402, 403]);
