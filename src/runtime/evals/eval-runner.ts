import { Looks } from '../../common/looks.ts';
import type { EvalDependencies } from './dependencies.ts';
import { runEvals } from './run-evals.ts';
import { Scoring } from './scoring.ts';

/** Runs the evals of the database, together with the other workers. Without evals it costs two small queries per sweep. */
export class EvalRunner {
  readonly #looks: Looks;
  readonly #scoring: Scoring;

  constructor(deps: EvalDependencies) {
    this.#scoring = new Scoring(deps, () => void this.look());
    this.#looks = new Looks((stopping) => runEvals(deps, this.#scoring, stopping), deps.onError);
  }

  look(): Promise<void> {
    return this.#looks.look();
  }

  async close(): Promise<void> {
    await this.#looks.close();
    await this.#scoring.close();
  }
}
