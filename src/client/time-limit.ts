import { after } from '../common/timer.ts';

/** A signal that aborts with `signal`, or after `ms` without `touch`. Release it when the work is done. */
export function linked(signal: AbortSignal | undefined, ms: number): TimeLimit {
  const own = new AbortController();
  const abort = () => own.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const timer = after(ms, () => own.abort(new Error(`nothing arrived for ${ms} ms`)));
  return {
    signal: own.signal,
    touch: timer.restart,
    release() {
      timer.cancel();
      signal?.removeEventListener('abort', abort);
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
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', stop);
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', stop));
  });
