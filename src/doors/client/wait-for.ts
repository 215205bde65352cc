import { LanefoldClientError } from './errors.ts';
import type { RunRef, RunSnapshot } from './operations.ts';
import type { StreamItem, StreamOptions } from './sse.ts';
import { after, onAbort } from '../../base/common/timer.ts';

export interface WaitOptions {
  /** Default: no limit. */
  timeoutMs?: number;
  /** The wait rejects with its reason; the run continues. */
  signal?: AbortSignal;
  /** Called once per reason if no worker can take the run. The wait continues. */
  onUnattended?: (unattended: StreamItem & { type: 'unattended' }) => void;
}

/** Waits for the end of a run on its stream. */
export async function waitFor(
  runs: {
    get(run: RunRef, call: { signal: AbortSignal }): Promise<RunSnapshot>;
    stream(run: RunRef, options: StreamOptions): AsyncIterable<StreamItem>;
  },
  run: RunRef,
  { timeoutMs, signal, onUnattended }: WaitOptions = {},
): Promise<RunSnapshot> {
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
    throw new LanefoldClientError('invalid_input', `timeoutMs must be a number of at least 0; got ${timeoutMs}.`, {
      hint: 'Omit it to wait without limit.',
    });
  }
  const timeUp = new AbortController();
  const timer = timeoutMs === undefined ? undefined : after(timeoutMs, () => timeUp.abort(timedOut(run, timeoutMs)));
  const stop = () => timeUp.abort(signal?.reason);
  const unlisten = onAbort(signal, stop);
  try {
    signal?.throwIfAborted();
    const found = await runs.get(run, { signal: timeUp.signal });
    if (found.finishedAt !== null) return found;
    for await (const item of runs.stream(run, { deltas: false, signal: timeUp.signal }))
      if (item.type === 'unattended') onUnattended?.(item);
    return await runs.get(run, { signal: timeUp.signal });
  } finally {
    timer?.cancel();
    unlisten();
  }
}

const timedOut = ({ id }: RunRef, timeoutMs: number): LanefoldClientError =>
  new LanefoldClientError('wait_timeout', `Run ${id} did not end within ${timeoutMs} ms.`, {
    hint: 'The run continues: wait again, or cancel it.',
  });

/** A signal that aborts with `signal`, or after `ms` without `touch`. Release it when the work is done. */
export function linked(signal: AbortSignal | undefined, ms: number): TimeLimit {
  const own = new AbortController();
  const abort = () => own.abort(signal?.reason);
  const unlisten = onAbort(signal, abort);
  const timer = after(ms, () => own.abort(new Error(`nothing arrived for ${ms} ms`)));
  return {
    signal: own.signal,
    touch: timer.restart,
    release() {
      timer.cancel();
      unlisten();
    },
    abort: () => own.abort(),
  };
}

export interface TimeLimit {
  signal: AbortSignal;
  touch(): void;
  release(): void;
  abort(): void;
}

/** What `work` comes to, unless `signal` aborts first: then its reason. */
export const orAborted = <T>(work: Promise<T> | undefined, signal: AbortSignal | null | undefined) =>
  new Promise<T | undefined>((resolve, reject) => {
    const unlisten = onAbort(signal, () => reject(signal?.reason as Error));
    Promise.resolve(work).then(resolve, reject).finally(unlisten);
  });

const longestMs = 15_000;

/** Resolves after `ms`, or at once when `signal` aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    let unlisten = () => {};
    const done = () => {
      timer.cancel();
      unlisten();
      resolve();
    };
    const timer = after(ms, done);
    unlisten = onAbort(signal, done);
  });

/** The pause before attempt `failures` + 1: doubled each time, with jitter, so that clients do not return together. */
export const backoffMs = (failures: number, firstMs: number): number =>
  Math.min(firstMs * 2 ** (failures - 1), longestMs) * (0.5 + Math.random() / 2);
