import { LanefoldError } from '../errors.ts';
import type { Database } from '../postgres/pool.ts';

interface Waiting {
  threadId: string;
  runId: string;
  done: (error?: unknown) => void;
}

const fastestMs = 20;
const slowestMs = 500;

/**
 * Waits for runs to end. However many wait, one statement at a time asks for all of them; the pause grows while nothing
 * happens. A run that ends in this process is told at once, through `notice`. A run that does not exist has ended.
 */
export class RunWaiter {
  readonly #waiting = new Map<string, Set<Waiting>>();
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = fastestMs;
  #asking = false;
  #closed = false;

  constructor(readonly db: Database) {}

  /** Resolves when the run has ended; rejects with the reason of `signal`. */
  ended(threadId: string, runId: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      const key = `${threadId} ${runId}`;
      const onAbort = () => waiting.done(signal!.reason);
      const waiting: Waiting = {
        threadId,
        runId,
        done: (error) => {
          signal?.removeEventListener('abort', onAbort);
          const group = this.#waiting.get(key);
          group?.delete(waiting);
          if (group?.size === 0) this.#waiting.delete(key);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort);
      const group = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, group.add(waiting));
      this.#pauseMs = fastestMs;
      this.#schedule();
    });
  }

  notice(threadId: string, runId: string): void {
    for (const waiting of [...(this.#waiting.get(`${threadId} ${runId}`) ?? [])]) waiting.done();
  }

  /** Whoever still waits is told so; the runs go on. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const group of [...this.#waiting.values()]) for (const waiting of [...group]) waiting.done(closed());
  }

  #schedule(): void {
    if (this.#closed || this.#asking || this.#timer || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#ask();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 1.5, slowestMs);
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const asked = [...this.#waiting.values()].map((group) => [...group][0]!);
    try {
      const ended = await this.db.query<{ thread_id: string; id: string }>(
        'runs_ended',
        // a look at each run, whatever the planner knows of the table: joined, a young database would be scanned
        `select w.thread_id, w.run_id as id from unnest($1::text[], $2::text[]) as w (thread_id, run_id)
         where coalesce((select r.finished_at is not null from lanefold._run r where r.thread_id = w.thread_id and r.id = w.run_id), true)`,
        [asked.map((w) => w.threadId), asked.map((w) => w.runId)],
      );
      if (ended.length > 0) this.#pauseMs = fastestMs;
      for (const run of ended) this.notice(run.thread_id, run.id);
    } catch {
      // a lost connection is waited out like silence
    } finally {
      this.#asking = false;
      this.#schedule();
    }
  }
}

const closed = () =>
  new LanefoldError('wait_timeout', 'The connection was closed while a run was waited for.', {
    hint: 'The run goes on; wait for it or read it on another connection.',
  });
