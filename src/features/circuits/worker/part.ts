import { after, type Timer } from '../../../base/common/timer.ts';
import { wakeRun } from '../../../runs/queue/jobs-in-queue.ts';
import type { StartPart, WorkerSite } from '../../../worker/part.ts';
import type { CircuitRule } from '../rule.ts';
import { dropCircuits } from '../store/circuits.ts';
import { findAwaitedModels, findWaitingRuns } from '../store/waiting-runs.ts';
import { Breaker, type Turn } from './breaker.ts';

/** Days after which a model that no worker calls has no circuit any more. */
const keptDays = 7;
const batch = 1_000;
/** How many waiting runs a sweep wakes of a circuit that another process closed, which wakes them all unless it dies. */
const trickle = 50;
/** How many waiting runs are woken at the same time. */
const atOnce = 20;

/** Holds calls of failing models back. While all circuits are closed, it costs one small statement per sweep. */
export const circuitsPart =
  (rule: CircuitRule | undefined): StartPart =>
  (site) => {
    const cleanup = [{ everyMs: 600_000, work: () => dropCircuits(site.db, keptDays, batch) }];
    if (!rule) return { sweeps: cleanup };
    const watch = new CircuitWatch(site, rule);
    return {
      channels: { lanefold_circuits: () => void watch.look() },
      sweeps: [{ everyMs: 60_000, work: () => watch.findLeft() }, { work: () => watch.sweep() }, ...cleanup],
      attemptAt: (model) => watch.breaker.attemptAt(model),
      isBusy: () => watch.isWaking,
      close: () => watch.close(),
    };
  };

/** Wakes the runs that wait for circuits: one for each circuit that may be probed, and all once it is closed. */
class CircuitWatch {
  readonly breaker: Breaker;
  /** Circuits that are closed and for which runs may still wait. */
  readonly #closed = new Set<string>();
  #timer: Timer | undefined;
  #waking: Promise<unknown> = Promise.resolve();
  #wakes = 0;
  #isClosed = false;

  constructor(
    private readonly site: WorkerSite,
    rule: CircuitRule,
  ) {
    this.breaker = new Breaker(site.db, rule, (turn) => this.#onTurn(turn), site.onError);
    void this.look();
  }

  look = (): Promise<void> => this.breaker.look();

  get isWaking(): boolean {
    return this.#wakes > 0;
  }

  /**
   * Finds circuits that were closed while no worker was there, or by a process that died: their runs would wait for the time
   * of their jobs, an hour for a circuit that was opened by hand. The next sweep wakes them.
   */
  async findLeft(): Promise<void> {
    await this.look();
    const { db, queue } = this.site;
    for (const model of await findAwaitedModels(db, queue.prefix))
      if (this.breaker.isClosed(model)) this.#closed.add(model);
  }

  /** Also wakes what a process left that closed a circuit and died. */
  async sweep(): Promise<void> {
    await this.look();
    for (const model of this.#closed) if ((await this.#wake(model, trickle)) === 0) this.#closed.delete(model);
    await this.#probe();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    // what was counted last is for the other workers
    await this.look();
    await this.#waking;
  }

  #onTurn({ opened, closed, closedHere }: Turn): void {
    const { telemetry, onError } = this.site;
    for (const { model, reason } of opened) {
      telemetry.circuitTurned?.({ model, state: 'open', reason });
      this.#closed.delete(model);
    }
    for (const model of closed) {
      telemetry.circuitTurned?.({ model, state: 'closed' });
      this.#closed.add(model);
    }
    for (const model of closedHere) {
      this.#wakes += 1;
      this.#waking = this.#waking
        .then(() => this.#wake(model, batch))
        .catch(onError)
        .finally(() => (this.#wakes -= 1));
    }
    this.#plan();
  }

  /** Looks once the next circuit may be probed. */
  #plan(): void {
    this.#timer?.cancel();
    const dueMs = this.breaker.dueInMs;
    if (this.#isClosed || dueMs === undefined || dueMs === 0 || dueMs > maxTimerMs) return;
    this.#timer = after(dueMs + 1, () => void this.#probe().catch(this.site.onError), { ref: false });
  }

  /** Wakes a run for each circuit that is due: its call probes. A run that no worker can execute is not chosen every time. */
  async #probe(): Promise<void> {
    for (const model of this.breaker.due) await this.#wake(model, 1);
  }

  /** Wakes up to `most` runs that wait for the model. Returns how many wait. */
  async #wake(model: string, most: number): Promise<number> {
    const { db, queue } = this.site;
    const found = await findWaitingRuns(db, queue.prefix, model, batch);
    // from another place each time: workers that do the same at this moment then have other runs
    const start = Math.floor(Math.random() * found.length);
    const chosen = [...found.slice(start), ...found.slice(0, start)].slice(0, most);
    for (let no = 0; no < chosen.length; no += atOnce) {
      const some = chosen.slice(no, no + atOnce);
      // two processes may wake the same run; one that is not woken now is so by a later sweep, or its job returns
      await Promise.allSettled(some.map((run) => wakeRun(queue, run)));
    }
    return found.length;
  }
}

/** The sweep looks as well. */
const maxTimerMs = 60_000;
