import { after, onAbort } from '../../base/common/timer.ts';

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
