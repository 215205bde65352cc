import type { EvalDependencies } from './dependencies.ts';
import { runEvals } from './run-evals.ts';
import { Scoring } from './scoring.ts';

/**
 * Runs the evals of the database, together with the other workers. Without evals it costs two small queries per sweep. Looks
 * at the same time are one; calls during a look lead to one more.
 */
export class EvalRunner {
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;
  readonly #scoring: Scoring;

  constructor(private readonly deps: EvalDependencies) {
    this.#scoring = new Scoring(deps, () => void this.look());
  }

  look(): Promise<void> {
    if (this.#looking) this.#again = true;
    else if (!this.#closed) this.#looking = this.#look().finally(() => (this.#looking = undefined));
    return this.#looking ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    await this.#scoring.close();
  }

  async #look(): Promise<void> {
    do {
      this.#again = false;
      await runEvals(this.deps, this.#scoring, () => this.#closed).catch(this.deps.onError);
    } while (this.#again && !this.#closed);
  }
}
