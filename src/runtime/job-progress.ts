import { cleanText } from '../text.ts';

/** What Bull Board shows of a run at work. */
export interface Progress {
  iteration: number;
  max_iterations: number;
  /** Spent so far, in and out. */
  tokens: number;
  /** `llm`, `tools`, or how the run ended. */
  phase: string;
}

/** The part of a BullMQ job that is written to. */
export interface ProgressJob {
  updateProgress(progress: object): Promise<unknown>;
  log(line: string): Promise<unknown>;
}

/** Runs shorter than this leave no progress: the result of their job says it all, and nothing is slowed down. */
const quietMs = 250;
/** How long the end of a job waits for its last progress. */
const flushMs = 500;
/** Lines that may wait for a slow queue; beyond them the oldest are lost. */
const maxWaiting = 200;

/**
 * Tells the queue how a job goes, for people who look at it. One write at a time, since concurrent ones may be rejected
 * and arrive in any order; of progress only the latest counts. Never fails and never waits but for a moment in `close`.
 */
export class JobProgress {
  readonly #job: ProgressJob;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #latest: Progress | undefined;
  #lines: string[] = [];
  #lost = 0;
  #open = false;
  #closed = false;
  #sending: Promise<void> | undefined;

  constructor(job: ProgressJob, first: Progress, line: string) {
    this.#job = job;
    this.note(first, [line]);
    this.#timer = setTimeout(() => {
      this.#open = true;
      this.#send();
    }, quietMs);
    this.#timer.unref();
  }

  note(progress: Progress, lines: readonly string[]): void {
    this.#latest = progress;
    const at = ((performance.now() - this.#startedAt) / 1000).toFixed(2);
    for (const line of lines) this.#lines.push(`+${at} s  ${cleanText(line)}`);
    while (this.#lines.length > maxWaiting) {
      this.#lines.shift();
      this.#lost += 1;
    }
    if (this.#open) this.#send();
  }

  /** Sends what is left of a run that was shown, within half a second. */
  async close(): Promise<void> {
    if (this.#open) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, flushMs)));
      await Promise.race([this.#send(), late]);
      clearTimeout(timer);
    }
    this.drop();
  }

  /** Nothing more is sent. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#closed = true;
  }

  #send(): Promise<void> {
    this.#sending ??= this.#drain().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #drain(): Promise<void> {
    while (!this.#closed) {
      const progress = this.#latest;
      this.#latest = undefined;
      if (progress) await this.#job.updateProgress(progress).catch(() => {});
      else if (this.#lost > 0) await this.#log(`… ${this.#lost} lines were lost`, () => (this.#lost = 0));
      else if (this.#lines.length > 0) await this.#log(this.#lines.shift()!);
      else return;
    }
  }

  async #log(line: string, before?: () => void): Promise<void> {
    before?.();
    await this.#job.log(line).catch(() => {});
  }
}
