import type { ProviderOutcome } from '../../../agent/models/failure.ts';
import { newId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { CallDeferred, type GuardedCall } from '../../../worker/part.ts';
import type { CircuitRule } from '../rule.ts';
import { probeCircuit, reportCircuits, type HeldCircuit } from '../store/circuits.ts';
import { Tally } from './tally.ts';

/** A circuit that is not closed, as this process last heard. Times are by its own clock, in ms. */
interface Known {
  openedAt: number;
  /** When a call may probe; infinite: not before it is closed by hand. */
  freeAt: number;
}

/** What the database says of circuits that this process did not know. */
export interface Turn {
  opened: readonly HeldCircuit[];
  closed: readonly string[];
  /** Those of them that a probe of this process has closed. */
  closedHere: readonly string[];
}

/**
 * Decides for the runs of one process whether a model may be called. It asks the database only about models whose circuits are not
 * closed, and tells it at once of failures and the ends of probes, and of all else when it looks.
 */
export class Breaker {
  readonly #known = new Map<string, Known>();
  readonly #tally = new Tally();
  #reporting: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;
  #hasLooked = false;

  constructor(
    private readonly db: Database,
    private readonly rule: CircuitRule,
    private readonly onTurn: (turn: Turn) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The models that a call may probe now. */
  get due(): string[] {
    const now = performance.now();
    return [...this.#known].flatMap(([model, { freeAt }]) => (freeAt <= now ? [model] : []));
  }

  /** Whether the circuit of a model was closed when this process last looked. */
  isClosed = (model: string): boolean => this.#hasLooked && !this.#known.has(model);

  /** When the next one may be probed, in ms from now; undefined: none. */
  get dueInMs(): number | undefined {
    const free = Math.min(...[...this.#known.values()].map(({ freeAt }) => freeAt));
    return Number.isFinite(free) ? Math.max(0, free - performance.now()) : undefined;
  }

  async attemptAt(model: string): Promise<GuardedCall | CallDeferred | undefined> {
    // scripts in the place of a model are no models of a provider
    if (!isModel(model)) return undefined;
    const known = this.#known.get(model);
    if (!known) return this.#attempt(model);
    if (performance.now() < known.freeAt) return this.#deferred(model, known);
    const probe = newId('probe');
    const { may, probe: probes, wait_ms: waitMs } = await probeCircuit(this.db, model, probe, this.rule);
    if (!may) {
      known.freeAt = freeAt(waitMs);
      return this.#deferred(model, known);
    }
    if (!probes) return this.#attempt(model);
    this.#tally.beginProbe(model, probe);
    return this.#attempt(model, probe);
  }

  /** Tells what this process has counted, and learns which circuits are not closed. Never rejects. */
  look(): Promise<void> {
    // what is counted while a report is under way is for the next one
    this.#next ??= this.#reporting.then(() => {
      this.#next = undefined;
      const report = this.#report().catch(this.onError);
      this.#reporting = report;
      return report;
    });
    return this.#next;
  }

  async #report(): Promise<void> {
    const reports = this.#tally.take();
    const held = await reportCircuits(this.db, reports, this.rule).catch((error: unknown) => {
      this.#tally.restore(reports);
      throw error;
    });
    this.#hasLooked = true;
    const opened = held.filter(({ model }) => !this.#known.has(model));
    const closed = [...this.#known.keys()].filter((model) => !held.some((one) => one.model === model));
    for (const model of closed) this.#known.delete(model);
    const answered = reports.flatMap((report) => ('probe' in report && report.outcome === 'ok' ? report.model : []));
    for (const { model, open_ms: openMs, wait_ms: waitMs } of held)
      this.#known.set(model, { openedAt: performance.now() - openMs, freeAt: freeAt(waitMs) });
    this.onTurn({ opened, closed, closedHere: closed.filter((model) => answered.includes(model)) });
  }

  #attempt(model: string, probe?: string): GuardedCall {
    let probing = probe;
    let hasEnded = false;
    const endProbe = (outcome: ProviderOutcome | undefined) => {
      this.#tally.endProbe(model, probing!, outcome);
      probing = undefined;
      return this.look();
    };
    return {
      answers: () => {
        if (!hasEnded && probing !== undefined) void endProbe('ok');
      },
      ended: async (outcome) => {
        if (hasEnded) return undefined;
        hasEnded = true;
        const failed = typeof outcome === 'object';
        if (probing !== undefined) await endProbe(outcome);
        else if (this.#tally.count(model, outcome)) await this.look();
        const known = failed && this.#known.get(model);
        return known && performance.now() - known.openedAt < this.rule.patienceMs
          ? this.#deferred(model, known)
          : undefined;
      },
    };
  }

  #deferred(model: string, { freeAt }: Known): CallDeferred {
    const delayMs = Number.isFinite(freeAt) ? Math.max(0, Math.ceil(freeAt - performance.now())) : undefined;
    return new CallDeferred({ circuit: model }, delayMs, async () => {
      await this.look();
      return !this.#known.has(model);
    });
  }
}

const freeAt = (waitMs: number | undefined): number => (waitMs === undefined ? Infinity : performance.now() + waitMs);

const isModel = (model: string): boolean => model.length <= 200 && /^[\w.:@/+-]+$/.test(model);
