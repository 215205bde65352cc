import { isAsyncIterable, lastValue } from './last-value.ts';
import { ToolError } from './tool-error.ts';

// setTimeout fires immediately for longer delays.
const longestTimer = 2_147_483_647;

/**
 * Runs one attempt and returns its result: the value, the resolved value of a promise, or the last value of an async
 * iterable.
 *
 * Rejects with a `timeout` ToolError after `timeoutMs`, with the reason of `signal` when that aborts, or with what the
 * attempt threw. In the first two cases it aborts the attempt's own signal and ignores whatever the attempt still does.
 */
export async function runAttempt(
  start: (signal: AbortSignal) => unknown,
  timeoutMs: number,
  signal: AbortSignal,
  what = 'The tool',
): Promise<unknown> {
  const controller = new AbortController();
  const started = start(controller.signal);
  const pending = isAsyncIterable(started) ? lastValue(started, controller.signal) : started;
  if (!isThenable(pending)) return pending;

  return new Promise((resolve, reject) => {
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    // Reject before aborting: the tool's reaction to its signal must not become the outcome.
    const abandon = (reason: unknown) => {
      release();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = () => abandon(signal.reason);
    const timer = setTimeout(
      () => abandon(new ToolError(`${what} did not answer within ${timeoutMs} ms`, { type: 'timeout' })),
      Math.min(timeoutMs, longestTimer),
    );
    signal.addEventListener('abort', onAbort);
    Promise.resolve(pending).then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error);
      },
    );
    if (signal.aborted) onAbort();
  });
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
