import { isWorthRepeating } from '../client/connection.ts';
import { isClientError, type LanefoldClientError } from '../client/errors.ts';
import { pause, backoffMs } from '../client/wait-for.ts';
import { onAbort } from '../../base/common/timer.ts';
import type { StreamItem } from '../client/sse.ts';

/** How long a page waits, after the client has given up, before it connects again. */
const betweenMs = 10_000;

/**
 * State that follows the server while components use it. It starts with the first of them and stops with the last, so
 * that nothing runs on a server that renders, and what arrives after an unmount changes nothing.
 */
export abstract class Followed<STATE extends { error: LanefoldClientError | undefined }> {
  readonly #users = new Set<() => void>();
  #following: AbortController | undefined;
  /** Whether the last read failed. */
  #isBehind = false;
  #state: STATE;

  constructor(readonly initial: STATE) {
    this.#state = initial;
  }

  /** Reads what there is, then follows it. Rejects when it cannot continue; it is started again after a pause. */
  protected abstract follow(signal: AbortSignal): Promise<void>;

  readonly state = (): STATE => this.#state;

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#users.add(changed);
    if (!this.#following) void this.#start();
    return () => {
      this.#users.delete(changed);
      if (this.#users.size > 0) return;
      this.#following?.abort();
      this.#following = undefined;
    };
  };

  /** Starts over, if it is in use. */
  protected restart(): void {
    if (this.#users.size === 0) return;
    this.#following?.abort();
    void this.#start();
  }

  /** Shows why a read failed, and starts over: after a pause if that may pass, and unless another read succeeds by then. */
  protected async track(read: Promise<void>): Promise<void> {
    try {
      await read;
      this.#isBehind = false;
    } catch (error) {
      this.#isBehind = true;
      this.fail(error);
      const following = this.#following;
      if (following && mayPass(error as LanefoldClientError))
        await online(error as LanefoldClientError, following.signal);
      if (following && following === this.#following && this.#isBehind) this.restart();
    }
  }

  /** Whether it follows the server, or tries to. False once there was nothing more to follow, or a request was refused. */
  protected get follows(): boolean {
    return this.#following !== undefined;
  }

  protected set(changes: Partial<STATE>): void {
    this.#state = { ...this.#state, ...changes };
    for (const changed of this.#users) changed();
  }

  /** Keeps the error for the page. Throws every other error. */
  protected fail(error: unknown): void {
    if (!isClientError(error)) throw error;
    this.set({ error } as Partial<STATE>);
  }

  async #start(): Promise<void> {
    const following = new AbortController();
    const { signal } = following;
    this.#following = following;
    await this.#followUntil(signal);
    if (this.#following === following) this.#following = undefined;
  }

  async #followUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        return await this.follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.fail(error);
        if (!mayPass(error as LanefoldClientError)) return;
        await online(error as LanefoldClientError, signal);
      }
    }
  }
}

/** Whether the error may go away by itself: a page stays open for longer than a fault of the server lasts. */
export const mayPass = (error: LanefoldClientError): boolean =>
  isWorthRepeating(error) || error.status === 429 || error.status >= 500;

/** The window; what has none has no such methods. */
export const page = globalThis as unknown as Partial<EventTarget>;

/** A pause that ends early when the browser is online again. */
async function online({ retryAfterMs = 0 }: LanefoldClientError, signal: AbortSignal): Promise<void> {
  const back = new AbortController();
  const end = () => back.abort();
  const unlisten = onAbort(signal, end);
  page.addEventListener?.('online', end);
  await pause(Math.max(betweenMs, retryAfterMs), back.signal);
  unlisten();
  page.removeEventListener?.('online', end);
}

/** Runs `work` again once it has ended, if it was asked for in the meantime, but never twice at once. */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        try {
          await work();
        } catch (error) {
          if (!again) throw error;
        }
      } while (again);
    } finally {
      running = undefined;
    }
  };
  return () => {
    again = running !== undefined;
    return (running ??= run());
  };
}

/** The first pause if it is missing although the server has just said that it exists, as a replica that lags may say. */
const firstPauseMs = 500;

interface Awaited {
  /** Says that it does not exist yet. */
  missing: (error: LanefoldClientError) => void;
  /** A stream that waits for it. */
  arrival: () => AsyncIterable<StreamItem>;
  signal: AbortSignal;
}

/** Does the work on a thread or a run, which may not exist yet: then it waits for it, and starts over. */
export async function onceItExists(work: () => Promise<void>, { missing, arrival, signal }: Awaited): Promise<void> {
  for (let misses = 1; ; misses++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isMissing(error)) throw error;
      missing(error);
    }
    if (misses > 1) await pause(backoffMs(misses - 1, firstPauseMs), signal);
    for await (const _ of arrival()) break;
  }
}

const isMissing = (error: unknown): error is LanefoldClientError =>
  isClientError(error, 'thread_not_found') || isClientError(error, 'run_not_found');
