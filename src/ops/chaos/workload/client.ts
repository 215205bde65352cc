import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import type { RunKey } from '../observer.ts';
import { isConnectionError, isTransient } from '../../../database/postgres/errors.ts';
import { delay } from '../../../base/common/timer.ts';

/** What was sent, and the calls that the receipt says it released; null without a receipt. */
export interface SentEvent {
  event: string;
  content: string;
  released: { threadId: string; runId: string; round: number; index: number }[] | null;
}

/** A schedule, with what the client knows of its slots. */
export interface KnownSchedule {
  name: string;
  everyMs: number;
  /** Slots after this are its own, in milliseconds since the epoch. */
  setAt: number;
  /** The last slot that was listed before it was paused: from `setAt` on, no slot before it may be missing. */
  lastSlot: number;
}

/** Everything acknowledged to clients, which must be in the database after every fault. */
export interface Acknowledged {
  runs: RunKey[];
  inputs: RunKey[];
  operations: RunKey[];
  /** Runs of a strategy other than `react`, with the result of an undisturbed run. */
  strategies: (RunKey & { result: JsonObject | string })[];
  schedules: KnownSchedule[];
  /** Every event sent, acknowledged or not. */
  events: SentEvent[];
}

export const nothingAcknowledged = (): Acknowledged => ({
  runs: [],
  inputs: [],
  operations: [],
  strategies: [],
  schedules: [],
  events: [],
});

export interface Client {
  lanefold: Lanefold;
  acknowledged: Acknowledged;
  /** Aborts when the campaign stops waiting for runs. */
  signal: AbortSignal;
}

export async function waitForEnd({ lanefold, signal }: Client, runs: RunKey[]): Promise<void> {
  await Promise.all(runs.map((run) => persist(() => lanefold.runs.wait(run, { signal }), signal))).catch((error) => {
    // otherwise the campaign stopped waiting, and the checks find runs that hang
    if (!signal.aborted && !isLanefoldError(error, 'wait_timeout')) throw error;
  });
}

/** Longer than any fault lasts: an error that persists is not caused by one. */
const patienceMs = 60_000;
const seriesMs = 5_000;

/**
 * Retries a request that wrote nothing or may have written nothing, as a careful client does: each has an idempotency
 * key.
 */
export async function persist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let failingSince: number | undefined;
  for (;;) {
    const askedAt = performance.now();
    try {
      return await request();
    } catch (error) {
      // a request that took long enough starts a new series of failures
      if (failingSince === undefined || performance.now() - askedAt > seriesMs) failingSince = performance.now();
      const mayPass = isConnectionError(error) || (isTransient(error) && performance.now() - failingSince < patienceMs);
      if (!mayPass || signal.aborted) throw error;
      await delay(100);
    }
  }
}
