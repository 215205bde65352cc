import { setTimeout as delay } from 'node:timers/promises';

/** Enough for a machine that is busy with others. */
export const deadlineMs = 300_000;

/** Polls until `poll` returns a truthy value, and returns that value. After five minutes it throws an error with `what`. */
export async function until<T>(
  what: string,
  poll: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    const value = await poll();
    if (value) return value as Exclude<T, undefined | null | false | 0 | ''>;
    if (performance.now() > giveUpAt) throw new Error(`timed out after ${deadlineMs} ms waiting until ${what}`);
    await delay(15);
  }
}

/** A promise with its settlers, with which a test can block a model or tool. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
