import { errorMessage } from './error-message.ts';
import type { openEffects } from './effects.ts';
import type { renderReturned } from './returned.ts';
import type { ToolOutcome } from './outcome.ts';
import { effectsOf, readThrown, statesOutcome } from './tool-error.ts';
import { unknownOutcome } from './unknown-outcome.ts';
import { delay } from '../common/timer.ts';

export interface ToolRetryOptions {
  /** Attempts after the first one. */
  maxRetries: number;
  backoffMs: number;
  /** Attempts the call only once; a failure that leaves the outcome open makes it `unknown`. */
  once?: boolean;
  signal: AbortSignal;
  /** Awaited before each attempt, counted from 1; the attempt starts only after it resolves. */
  onAttempt?: ((attempt: number) => Promise<void>) | undefined;
  /** The result as the model reads it; not part of the attempt's duration. Must not throw. */
  render: (result: unknown) => ReturnType<typeof renderReturned>;
}

/**
 * Attempts a tool until it succeeds, fails permanently or has no retries left. Rejects only with the reason of `signal`
 * and with the error of `onAttempt`.
 */
export async function retryTool(
  run: (attempt: number) => Promise<ReturnType<typeof openEffects>>,
  { maxRetries, backoffMs, once, signal, onAttempt, render }: ToolRetryOptions,
): Promise<ToolOutcome> {
  for (let attempt = 1; ; attempt++) {
    if (onAttempt) await onAttempt(attempt);
    signal.throwIfAborted();
    const startedAt = performance.now();
    try {
      const { result, offered } = await run(attempt);
      const durationMs = since(startedAt);
      return { ...render(result), attempts: attempt, durationMs, ...(offered && { offered }) };
    } catch (error) {
      const durationMs = since(startedAt);
      signal.throwIfAborted();
      const failure = readThrown(error);
      const spent = { attempts: attempt, durationMs };
      if (once && !statesOutcome(error))
        return { ...unknownOutcome(`The tool failed (${failure.type}: ${failure.message})`), ...spent };
      if (once || !failure.retryable || attempt > maxRetries) {
        const offered = effectsOf(error);
        return { ...errorMessage(failure), ...spent, ...(offered && { offered }) };
      }
    }
    if (backoffMs > 0) await delay(backoffMs, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** The longest duration that the ledger of calls stores, in ms: 24 days. */
const longestShownMs = 2 ** 31 - 1;

const since = (startedAt: number): number => Math.min(Math.round(performance.now() - startedAt), longestShownMs);
