import type { JsonObject } from '../../context/message.ts';
import { isLanefoldError } from '../../errors.ts';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import type { RunKey } from '../observer.ts';
import type { SentEvent } from './events.ts';
import { persist } from './persist.ts';
import type { KnownSchedule } from './scheduled.ts';

/** Everything acknowledged to clients, which must be in the database whatever was killed. */
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
  ...{ runs: [], inputs: [], operations: [], strategies: [], schedules: [], events: [] },
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
