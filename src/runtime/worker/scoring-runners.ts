import type { Scorer } from '../../evals/scorers/scorer.ts';
import type { Database } from '../../postgres/pool.ts';
import type { EvalRequests } from '../evals/dependencies.ts';
import { EvalRunner } from '../evals/eval-runner.ts';
import { MonitorRunner } from '../monitors/monitor-runner.ts';
import type { Repeater } from './repeat.ts';

export interface ScoringOptions {
  db: Database;
  /** That of a private queue; null: the queue is shared. */
  queuePrefix: string | null;
  /** The agents of this process, by name. */
  agents: readonly string[];
  /** Its versions of them, as `agent@label` and `agent@id`. */
  versions: readonly string[];
  scorers: readonly Scorer[];
  requests: EvalRequests;
  sweepMs: number;
  onError: (error: unknown) => void;
}

/** What a worker does for evals and monitors beside its runs. */
export class ScoringRunners {
  readonly #evals: EvalRunner;
  readonly #monitors: MonitorRunner;
  private readonly sweepMs: number;

  constructor({ db, queuePrefix, agents, versions, scorers, requests, sweepMs, onError }: ScoringOptions) {
    this.sweepMs = sweepMs;
    this.#evals = new EvalRunner({ db, queuePrefix, agents: [...agents, ...versions], requests, scorers, onError });
    const { acceptingFor } = requests;
    this.#monitors = new MonitorRunner({ db, queuePrefix, agents, scorers, acceptingFor, sweepMs, onError });
  }

  /** An eval has begun, or one of its runs has ended. */
  lookAtEvals(): void {
    void this.#evals.look();
  }

  repeat(repeater: Repeater): void {
    repeater.repeat(this.sweepMs, () => this.#evals.look());
    repeater.repeat(this.sweepMs, () => this.#monitors.look());
  }

  close(): Promise<unknown> {
    return Promise.all([this.#evals.close(), this.#monitors.close()]);
  }
}
