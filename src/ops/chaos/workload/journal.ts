import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseJson } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import type { RunKey } from '../schedule.ts';
import { isConnectionError, isTransient } from '../../../database/postgres/errors.ts';
import { delay } from '../../../base/common/timer.ts';

/** One start of a tool, recorded by the tool before it does anything else. */
export interface ToolStart {
  /** The idempotency key of the call. */
  key: string;
  name: string;
  pid: number;
  /**
   * Milliseconds since the epoch by the system clock, which PostgreSQL uses too; `performance` may differ by tens of
   * milliseconds.
   */
  at: number;
}

/** One question of a process to the limits, for a run that wants to make a model call, as the process sent it. */
export interface LimitAsk {
  run_id: string;
  pid: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** Not of a process that had no answer. */
  refused?: boolean;
}

/**
 * Records of the built-in tools about their own starts and effects. They live in files, so they are independent of the
 * database, the tool ledger and the runtime that they check. Each line is one write, so it survives a kill of its
 * process.
 */
export class Journal {
  readonly #file: string;
  #asks = 0;

  constructor(readonly dir: string) {
    this.#file = path.join(dir, `starts-${process.pid}.jsonl`);
  }

  recordStart(key: string, name: string): void {
    const start: ToolStart = { key, name, pid: process.pid, at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(start)}\n`);
  }

  /** Records a question, and returns a function that records its answer. */
  recordAsk(runId: string): (refused: boolean) => void {
    const ask = { run_id: runId, pid: process.pid, at: Date.now(), n: this.#asks++ };
    const write = (line: LimitAsk) =>
      appendFileSync(path.join(this.dir, `asks-${process.pid}.jsonl`), `${JSON.stringify(line)}\n`);
    write(ask);
    return (refused) => write({ ...ask, refused });
  }

  /** Records an effect that `findEffect` returns after a crash. */
  recordEffect(key: string, result: string): void {
    writeFileSync(this.#effect(key), result);
  }

  findEffect(key: string): string | undefined {
    const file = this.#effect(key);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  #effect(key: string): string {
    return path.join(this.dir, `effect-${key.replaceAll(':', '.')}`);
  }
}

/** The starts of tools recorded by all processes. */
export const readStarts = (dir: string): ToolStart[] => readLines(dir, 'starts-');

/** The questions to limits recorded by all processes. */
export const readAsks = (dir: string): LimitAsk[] => [
  // a line with an answer replaces the one without
  ...new Map(readLines<LimitAsk & { n: number }>(dir, 'asks-').map((ask) => [`${ask.pid} ${ask.n}`, ask])).values(),
];

const readLines = <Line>(dir: string, prefix: string): Line[] =>
  readdirSync(dir)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => readFileSync(path.join(dir, name), 'utf8').split('\n'))
    // the last line of a killed process may be truncated
    .flatMap((line) => (line.endsWith('}') ? [parseJson(line) as Line] : []));

/** What was sent, and the calls that the receipt says it resolved; null without a receipt. */
export interface SentEvent {
  event: string;
  content: string;
  resolved: { threadId: string; runId: string; round: number; index: number }[] | null;
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
