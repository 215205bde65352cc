import { setTimeout as pause } from 'node:timers/promises';

/** Asks again and again until there is a truthy answer, and returns it. `what` is told when `deadlineMs` have passed. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  deadlineMs = 30_000,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<T, undefined | null | false | 0 | ''>;
    if (performance.now() > giveUpAt) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await pause(15);
  }
}

/** A promise with its handles: lets a test hold a model or a tool for as long as it likes. */
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
