import pTimeout from 'p-timeout';
import { isLanefoldError } from '../../errors.ts';
import { getRun, type Api, type RunJson, type RunName } from '../api.ts';
import { hasEnded, openCalls } from './state.ts';

/** A client hears of a run at least this often, and a wait that has begun is looked at again. */
const tickMs = 2_000;

export interface FollowOptions {
  /** How long to wait at most, in ms. */
  waitMs: number;
  /** Ends the wait when the client no longer listens; the run goes on. */
  signal: AbortSignal;
  /** Called at once, with each event of the run, and at each tick. */
  onProgress(message: string): Promise<void>;
}

/**
 * Waits until a run has ended, needs a person, or has no worker, and returns it as it is then; at the latest after
 * `waitMs`.
 *
 * @throws LanefoldError `run_not_found`, `forbidden`, `unauthorized`
 */
export async function followRun(api: Api, name: RunName, options: FollowOptions): Promise<RunJson> {
  const { waitMs, onProgress } = options;
  const says = (text: string) => onProgress(`run ${name.run_id} of thread ${name.thread_id}: ${text}`);
  let run = await getRun(api, name);
  await says(run.status);
  if (waitMs === 0 || isSettled(run)) return run;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const timer = setTimeout(() => over.abort(), waitMs);
  try {
    const kinds = api.follow(name, signal);
    let waits = false;
    let next = quietly(kinds.next());
    for (;;) {
      const event = await orTick(next);
      if (event?.done || signal.aborted) break;
      if (event) next = quietly(kinds.next());
      const kind = event?.value;
      if (kind !== undefined) waits = kind.startsWith('wait_') || kind.startsWith('approval_');
      await says(kind ?? run.status);
      // a wait is recorded before the run is suspended, so an event about it may come too early
      if (!waits && kind !== 'unattended') continue;
      run = await getRun(api, name);
      if (isSettled(run) || kind === 'unattended') return run;
    }
  } catch (error) {
    // the key may have no more streams: its client asks again
    if (!isLanefoldError(error, 'rate_limited') && !isLanefoldError(error, 'server_busy')) throw error;
  } finally {
    over.abort();
    clearTimeout(timer);
  }
  return getRun(api, name);
}

const isSettled = (run: RunJson): boolean => hasEnded(run) || openCalls(run).length > 0;

/** A stream may break when the wait is already over. */
const quietly = <T>(next: Promise<T>): Promise<T> => {
  next.catch(() => {});
  return next;
};

const orTick = <T>(next: Promise<T>): Promise<T | undefined> =>
  pTimeout(next, { milliseconds: tickMs, message: false }) as Promise<T | undefined>;
