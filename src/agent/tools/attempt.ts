import { timed } from '../../base/common/time-limit.ts';
import { isAsyncIterable, lastValue } from './last-value.ts';
import { ToolError } from './tool-error.ts';

/**
 * Runs one attempt and returns its result: the value, the resolved value of a promise, or the last value of an async
 * iterable.
 *
 * Rejects with a `timeout` ToolError if it takes longer than `timeoutMs`, with the reason of `signal` when that aborts, or
 * with what the attempt threw. In the first two cases it aborts the attempt's own signal and ignores whatever the attempt
 * still does.
 */
export const runAttempt = (
  start: (signal: AbortSignal) => unknown,
  timeoutMs: number,
  signal: AbortSignal,
  what = 'The tool',
): Promise<unknown> =>
  timed(
    (own) => {
      const started = start(own);
      return isAsyncIterable(started) ? lastValue(started, own) : started;
    },
    {
      ms: timeoutMs,
      signal,
      late: () => new ToolError(`${what} did not answer within ${timeoutMs} ms`, { type: 'timeout' }),
    },
  );
