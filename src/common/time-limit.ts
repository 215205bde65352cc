import pTimeout from 'p-timeout';

/** Rejects if `work` has not settled after `ms`. The work itself continues, because a promise cannot be cancelled. */
export const within = <T>(ms: number, work: Promise<T>): Promise<T> =>
  pTimeout(work, { milliseconds: ms, message: `no answer within ${ms} ms` });
