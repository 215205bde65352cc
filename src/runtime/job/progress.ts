import pLimit, { type LimitFunction } from 'p-limit';
import pTimeout from 'p-timeout';
import { cleanText } from '../../checks/text.ts';

/** The progress of a run as Bull Board shows it. */
export interface ShownProgress {
  iteration: number;
  max_iterations: number;
  /** Spent so far, in and out. */
  tokens: number;
  /** `llm`, `tools`, or how the run ended. */
  phase: string;
}

/** The methods of a BullMQ job used here. */
export interface ProgressJob {
  updateProgress(progress: object): Promise<unknown>;
  log(lines: string): Promise<unknown>;
}

/**
 * How long updates are batched: a write costs the queue as much as a commit costs the log, and people read no faster. A
 * run shorter than this writes nothing: the result of its job carries its lines.
 */
const batchMs = 250;
/** How long the end of a job waits for its last progress. */
const flushMs = 500;
/** Lines that may wait for a slow queue; beyond that the oldest are dropped. */
const maxWaiting = 200;
/**
 * Concurrent progress writes of this process: thousands of runs must not occupy the few queue connections that jobs and
 * their locks need.
 */
export const writesAtOnce = 2;
const ofThisProcess = pLimit(writesAtOnce);

/**
 * Writes progress and log lines to a job, for people to read. One write at a time, since concurrent ones may be
 * rejected or reordered; only the latest progress counts. Never throws, and waits only briefly, in `close`.
 */
export class JobProgress {
  readonly #job: ProgressJob;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #latest: ShownProgress | undefined;
  #lines: string[] = [];
  #lost = 0;
  #shown = false;
  #ending = false;
  #dropped = false;
  #sending: Promise<void> | undefined;
  #writing: Promise<void> | undefined;

  constructor(
    job: ProgressJob,
    first: ShownProgress,
    line: string,
    private readonly inTurn: LimitFunction = ofThisProcess,
  ) {
    this.#job = job;
    this.note(first, [line]);
  }

  note(progress: ShownProgress, lines: readonly string[]): void {
    this.#latest = progress;
    const at = ((performance.now() - this.#startedAt) / 1000).toFixed(2);
    for (const line of lines) this.#lines.push(`+${at} s  ${cleanText(line)}`);
    while (this.#lines.length > maxWaiting) {
      this.#lines.shift();
      this.#lost += 1;
    }
    this.#sendSoon();
  }

  /**
   * All lines and the latest progress, if nothing was written yet: the job's result can carry them without an extra
   * write.
   */
  unwritten(): { log: string[]; progress: ShownProgress } | undefined {
    return this.#shown || !this.#latest ? undefined : { log: [...this.#lines], progress: this.#latest };
  }

  /** Flushes what is pending, within half a second, if anything was written before or `always` is set. */
  async close({ always = false } = {}): Promise<void> {
    this.#ending = true;
    clearTimeout(this.#timer);
    if (this.#shown || always) {
      // a write in flight may predate the last update, so send once more; an ending job does not wait for other jobs'
      // turns
      const flushed = (this.#writing ?? Promise.resolve()).then(() => this.#send());
      await pTimeout(flushed, { milliseconds: flushMs, message: false });
    }
    this.drop();
  }

  /** Sends nothing more. */
  drop(): void {
    this.#ending = true;
    clearTimeout(this.#timer);
    this.#dropped = true;
  }

  #sendSoon(): void {
    if (this.#timer || this.#sending || this.#ending) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sendInTurn().finally(() => {
        this.#sending = undefined;
        if (this.#latest) this.#sendSoon();
      });
    }, batchMs);
    this.#timer.unref();
  }

  #sendInTurn(): Promise<void> {
    return this.inTurn(() => {
      // `close` writes what is left, one update at a time
      if (this.#ending) return Promise.resolve();
      this.#writing = this.#send().finally(() => (this.#writing = undefined));
      return this.#writing;
    });
  }

  async #send(): Promise<void> {
    if (this.#latest && !this.#dropped) {
      this.#shown = true;
      const progress = this.#latest;
      this.#latest = undefined;
      await this.#job.updateProgress(progress).catch(() => {});
    }
    if (this.#lines.length > 0 && !this.#dropped) {
      const lines = this.#lost > 0 ? [`… ${this.#lost} lines dropped`, ...this.#lines] : this.#lines;
      this.#lines = [];
      this.#lost = 0;
      await this.#job.log(lines.join('\n')).catch(() => {});
    }
  }
}
