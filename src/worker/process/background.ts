import { isConnectionError } from '../../database/postgres/errors.ts';
import { listen } from '../../database/postgres/listen.ts';
import { after, type Timer } from '../../base/common/timer.ts';
import type { WorkerPart } from '../part.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { countActivity } from '../../database/store/activity/count-activity.ts';
import { dropIdleBuckets, type BucketId } from '../../database/store/limit/use-limits.ts';
import { queuesWithEvents, trimJobEvents } from '../../database/store/run/trim-job-events.ts';
import { dropTraces } from '../../database/store/trace/drop-traces.ts';
import { dropKeptEvents } from '../../database/store/wait/events.ts';
import type { OpenWorker } from './open-worker.ts';

type Sweep = NonNullable<WorkerPart['sweeps']>[number];

/** What the parts of a worker do in the background: they wake on notifications, and their sweeps repeat. */
export class Background {
  readonly #repeater: Repeater;
  readonly #notices: ReturnType<typeof listen> | undefined;

  /** @param directUrl for LISTEN; without it, parts only sweep */
  constructor(
    private readonly parts: readonly WorkerPart[],
    private readonly options: { sweepMs: number; onError: (error: unknown) => void; directUrl?: string },
  ) {
    const { sweepMs, onError, directUrl } = options;
    const channels = Object.assign({}, ...parts.map((part) => part.channels)) as NonNullable<WorkerPart['channels']>;
    this.#notices = directUrl ? listen(directUrl, channels) : undefined;
    this.#repeater = new Repeater(onError);
    for (const { everyMs = 0, pauses, work } of this.#sweeps)
      this.#repeater.repeat(Math.max(everyMs, sweepMs), work, pauses);
  }

  get #sweeps(): readonly Sweep[] {
    return this.parts.flatMap(({ sweeps = [] }) => sweeps);
  }

  /** Sweeps now; without `all`, only what every sweep does. Never rejects. */
  async sweep({ all }: { all: boolean }): Promise<void> {
    for (const { everyMs, work } of this.#sweeps)
      if (all || everyMs === undefined) await work().catch(this.options.onError);
  }

  /** Begins no more sweeps. */
  stop(): void {
    this.#repeater.stop();
  }

  async close(): Promise<void> {
    await this.#notices?.close();
  }
}

/** The shortest pause, as a multiple of how long the work took: slow work must not use up the machine. */
const minPause = 10;
/** The longest that work is put off for that, in ms: recovery depends on some of it. */
const maxPauseMs = 30_000;

/** Repeats work in the background; its timers do not keep the process alive. */
export class Repeater {
  readonly #timers = new Set<Timer>();
  #stopped = false;

  constructor(private readonly onError: (error: unknown) => void) {}

  /**
   * Repeats `everyMs` after the work last ended, ±25 %, so that workers that started together spread out. After work that
   * took long twice in a row, the pause is `pauses` times as long as the faster of the two: once, it may have waited for
   * the machine, or for functions that a new session compiles. After an outage of the database it is not.
   */
  repeat(everyMs: number, work: () => Promise<unknown>, pauses = minPause): void {
    this.#repeat(everyMs, [0, 0], work, pauses);
  }

  /** @param took how long the work took the last time and the time before, in ms */
  #repeat(everyMs: number, took: [number, number], work: () => Promise<unknown>, pauses: number): void {
    if (this.#stopped) return;
    const run = async () => {
      this.#timers.delete(timer);
      const startedAt = performance.now();
      let isOutage = false;
      try {
        await work();
      } catch (error) {
        isOutage = isConnectionError(error);
        // work interrupted by the stop fails on closed connections, which is not worth reporting
        if (!this.#stopped) this.onError(error);
      }
      this.#repeat(everyMs, [isOutage ? 0 : performance.now() - startedAt, took[0]], work, pauses);
    };
    const pauseMs = Math.max(everyMs * (0.75 + Math.random() / 2), Math.min(Math.min(...took) * pauses, maxPauseMs));
    const timer = after(pauseMs, () => void run(), { ref: false });
    this.#timers.add(timer);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
  }
}

/** Deletes ended jobs, and what is older than the retention; without one, only what nothing waits for any more. */
export function cleanup({ deps: { db }, queue, options }: OpenWorker): WorkerPart {
  const { keepJobsMs: keepMs, keepJobs: keep, retentionDays, sweepMs } = options;
  const jobs: Sweep = { everyMs: 60_000, work: () => queue.clean({ keepMs, keep }) };
  const jobEvents: Sweep = { work: eventTrimmer(db, queue.prefix) };
  const events: Sweep = { everyMs: 600_000, work: () => dropOldEvents(db) };
  const buckets: Sweep = { everyMs: 3_600_000, work: () => dropOldBuckets(db, retentionDays) };
  // takes about a fifth of the time of one connection
  const traces: Sweep = { pauses: 4, work: traceRetention(db, retentionDays, sweepMs / 4) };
  return {
    sweeps: [
      jobs,
      ...(queue.backend === 'postgres' ? [jobEvents] : []),
      events,
      ...(retentionDays > 0 ? [buckets] : []),
      ...(retentionDays > 0 ? [{ ...traces, work: afterCounting(db, traces.work) }] : []),
    ],
  };
}

/**
 * Counts what ended before this worker started, before its first work: runs without a trace are no longer found, and after a
 * long time without workers, retention would be due for runs that no process has counted.
 */
function afterCounting(db: Database, work: () => Promise<unknown>): () => Promise<void> {
  let isCounted = false;
  return async () => {
    if (!isCounted) {
      // a call counts up to when the one before it was
      for (let calls = 0; calls < 2; calls++) await countActivity(db);
      isCounted = true;
    }
    await work();
  };
}

const traceBatch = 500;
const pauseMs = 600_000;

/**
 * Empties old traces: each call works for about `busyMs` while there are any, and then checks only every ten minutes.
 * With 0 `days`, all traces are kept.
 */
export function traceRetention(db: Database, days: number, busyMs: number): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (days === 0 || performance.now() < nextAt) return;
    for (const endAt = performance.now() + busyMs; ;) {
      const { due, dropped, leftToOther } = await dropTraces(db, days, traceBatch);
      if (due === 0) nextAt = performance.now() + pauseMs;
      if (dropped === 0 || leftToOther || performance.now() > endAt) return;
    }
  };
}

/** Events kept of a queue, as BullMQ does by default. */
const keptEvents = 10_000;

/**
 * Trims the events of a fleet's queues in PostgreSQL, at each call. BullMQ would begin each time with the first event, and
 * while a transaction keeps its snapshot, read the index entries of all that it has deleted since: after ten minutes, half
 * a second, several times a second, in the statements that add and end jobs. A trim begins where the last but one ended; one
 * in `wholeEvery` begins with the first event, to find those that were committed late.
 */
export function eventTrimmer(db: Database, prefix: string, wholeEvery = 1_000): () => Promise<void> {
  const ends = new Map<string, [number, number]>();
  let calls = 0;
  return async () => {
    if (++calls % wholeEvery === 0) ends.clear();
    for (const queue of await queuesWithEvents(db, prefix)) {
      const [above, last] = ends.get(queue) ?? [0, 0];
      const cut = await trimJobEvents(db, queue, { above, keep: keptEvents });
      if (cut !== undefined) ends.set(queue, [last, cut]);
    }
  };
}

const eventBatch = 1_000;
const maxBatches = 20;

/** Deletes events that are kept no longer: keeping another one deletes only a few, and of one tenant. */
export async function dropOldEvents(db: Database): Promise<void> {
  for (let no = 0; no < maxBatches; no++) if ((await dropKeptEvents(db, eventBatch)) < eventBatch) return;
}

const bucketPage = 1_000;

/** Deletes what limits know of keys that no run has used for this many days, unless it still counts. */
export async function dropOldBuckets(db: Database, days: number): Promise<void> {
  let after: BucketId | null = null;
  do after = await dropIdleBuckets(db, after, days, bucketPage);
  while (after !== null);
}
