import { setMaxListeners } from 'node:events';
import { argumentsOf, type JsonObject, type ToolCall } from '../context/message.ts';
import {
  errorMessage,
  defaultMaxResultBytes,
  openReturned,
  renderReturned,
  type ToolOutcome,
  unknownOutcome,
} from './outcome.ts';
import { readThrown, effectsOf, statesOutcome, ToolError } from './tool-error.ts';
import type { Tool, ToolCallContext, ToolLimits, ToolValidation } from './tool.ts';
import type { openEffects } from './effects.ts';
import { delay, timed } from '../../base/common/timer.ts';

/** The context of a call without the fields that `executeToolCall` adds. */
export type ToolCallBase = Omit<ToolCallContext, 'toolCallId' | 'attempt' | 'idempotencyKey' | 'signal'>;

/** Limits of the run; the tool's take precedence. Defaults: 15,000 ms, 1 retry, 200 ms, 262,144 bytes. */
interface ExecuteOptions extends ToolLimits {
  signal?: AbortSignal;
  /** Awaited before each attempt, counted from 1; the attempt starts only after it resolves. */
  onAttempt?: (attempt: number) => Promise<void>;
}

// Shared by every call without a signal; Node would warn of a leak at the eleventh listener.
const never = new AbortController().signal;
setMaxListeners(0, never);

export const callIdempotencyKey = (runId: string, round: number, callIndex: number): string =>
  `${runId}:${round}:${callIndex}`;

/**
 * Executes one call: validates its arguments, then attempts it until it succeeds, fails permanently or has no retries
 * left.
 *
 * Everything the tool does becomes an outcome. Rejects only with the reason of `signal`, immediately or after a pending
 * `onAttempt`, or with the error of `onAttempt`. Error types created here: `invalid_arguments`, `timeout`, `exception`,
 * `invalid_result`, `result_too_large`, `unknown_outcome`.
 */
export async function executeToolCall(
  tool: Tool,
  call: ToolCall,
  base: ToolCallBase,
  options: ExecuteOptions = {},
): Promise<ToolOutcome> {
  const { signal = never, onAttempt } = options;
  const timeoutMs = tool.timeoutMs ?? options.timeoutMs ?? 15_000;
  const maxRetries = tool.maxRetries ?? options.maxRetries ?? 1;
  const backoffMs = tool.retryBackoffMs ?? options.retryBackoffMs ?? 200;
  const maxBytes = tool.maxResultBytes ?? options.maxResultBytes ?? defaultMaxResultBytes;
  signal.throwIfAborted();

  const checked = await checkArguments(tool, call, timeoutMs, signal);
  if (!checked.ok) {
    const failure = { type: 'invalid_arguments', message: checked.message, retryable: false };
    return { ...errorMessage(failure), attempts: 0, durationMs: 0 };
  }

  const shared = {
    ...base,
    toolCallId: call.id,
    idempotencyKey: callIdempotencyKey(base.runId, base.round, base.callIndex),
  };
  return retryTool(
    async (attempt) => {
      const start = (own: AbortSignal) => tool.execute(checked.value, { ...shared, attempt, signal: own });
      return openReturned(await runAttempt(start, timeoutMs, signal));
    },
    {
      maxRetries,
      backoffMs,
      once: tool.replay === 'never',
      signal,
      onAttempt,
      render: (result) => renderReturned(result, maxBytes),
    },
  );
}

/** The validated arguments, or why they are invalid. Rejects only with the reason of `signal`. */
export async function checkArguments(
  tool: Tool,
  call: Pick<ToolCall, 'arguments' | 'arguments_raw'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ToolValidation> {
  const read = argumentsOf(call);
  if (!read.ok) return { ok: false, message: read.problem };
  try {
    // A copy: a tool may modify its arguments, and the call is part of the conversation.
    const copy = structuredClone(call.arguments as JsonObject);
    const checked = (await runAttempt(() => tool.validate(copy), timeoutMs, signal)) as ToolValidation;
    return checked.ok ? checked : { ok: false, message: String(checked.message) };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, message: readThrown(error).message };
  }
}

interface ToolRetryOptions {
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
async function retryTool(
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
const maxShownMs = 2 ** 31 - 1;

const since = (startedAt: number): number => Math.min(Math.round(performance.now() - startedAt), maxShownMs);

/**
 * Runs one attempt and returns its result: the value, the resolved value of a promise, or the last value of an async
 * iterable.
 *
 * Rejects with a `timeout` ToolError if it takes longer than `timeoutMs`, with the reason of `signal` when that aborts, or
 * with what the attempt threw. In the first two cases it aborts the attempt's own signal and ignores what the attempt
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

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof (value as { [Symbol.asyncIterator]?: unknown } | null | undefined)?.[Symbol.asyncIterator] === 'function';

/** The last value of an async iterable; `undefined` if it is empty. Closes the iterable when `signal` aborts. */
export async function lastValue(values: AsyncIterable<unknown>, signal: AbortSignal): Promise<unknown> {
  let last: unknown;
  for await (const value of values) {
    last = value;
    if (signal.aborted) break;
  }
  return last;
}
