import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage, type Rendered } from './error-message.ts';
import type { ToolOutcome } from './outcome.ts';
import { effectsOf, readThrown } from './tool-error.ts';

export interface RetryLimits {
  /** Attempts after the first one. */
  maxRetries: number;
  backoffMs: number;
  signal: AbortSignal;
  /** Awaited before each attempt, counted from 1; the attempt starts only after it resolves. */
  onAttempt?: ((attempt: number) => Promise<void>) | undefined;
}

/**
 * Attempts a tool until it succeeds, fails permanently or has no retries left. Rejects only with the reason of `signal`
 * and with the error of `onAttempt`.
 */
export async function retryTool(
  run: (attempt: number) => Promise<Rendered & Pick<ToolOutcome, 'offered'>>,
  { maxRetries, backoffMs, signal, onAttempt }: RetryLimits,
): Promise<ToolOutcome> {
  for (let attempt = 1; ; attempt++) {
    if (onAttempt) await onAttempt(attempt);
    signal.throwIfAborted();
    const startedAt = performance.now();
    try {
      const result = await run(attempt);
      return { ...result, attempts: attempt, durationMs: since(startedAt) };
    } catch (error) {
      const durationMs = since(startedAt);
      signal.throwIfAborted();
      const failure = readThrown(error);
      if (!failure.retryable || attempt > maxRetries) {
        const offered = effectsOf(error);
        return { ...errorMessage(failure), attempts: attempt, durationMs, ...(offered && { offered }) };
      }
    }
    if (backoffMs > 0) await delay(backoffMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

const since = (startedAt: number): number => Math.round(performance.now() - startedAt);
