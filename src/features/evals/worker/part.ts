import { CoalescedPoll } from '../../../base/common/timer.ts';
import type { EvalDependencies, EvalRequests } from './dependencies.ts';
import { runEvals } from './run-evals.ts';
import { Scoring } from './scoring.ts';
import type { StartPart } from '../../../worker/part.ts';
import type { Scorer } from '../scorers/scorer.ts';
import { shareOf } from './budget.ts';
import { withStandIns } from './stand-ins.ts';

/** Runs the evals of the database, together with the other workers. Without evals it costs two small queries per sweep. */
class EvalRunner {
  readonly #poll: CoalescedPoll;
  readonly #scoring: Scoring;

  constructor(deps: EvalDependencies) {
    this.#scoring = new Scoring(deps, () => void this.look());
    this.#poll = new CoalescedPoll((stopping) => runEvals(deps, this.#scoring, stopping), deps.onError);
  }

  get isBusy(): boolean {
    return this.#poll.isPolling || this.#scoring.isBusy;
  }

  look(): Promise<void> {
    return this.#poll.poll();
  }

  async close(): Promise<void> {
    await this.#poll.close();
    await this.#scoring.close();
  }
}

/** Runs evals: their items are runs, of which it changes the tools and pays the calls. */
export const evalsPart =
  (requests: EvalRequests, scorers: readonly Scorer[]): StartPart =>
  ({ db, agents, versions, privatePrefix: queuePrefix, onError }) => {
    const all = [...agents, ...versions];
    const runner = new EvalRunner({ db, queuePrefix, agents: all, requests, scorers, onError });
    const look = () => runner.look();
    return {
      channels: { lanefold_evals: () => void look() },
      sweeps: [{ work: look }],
      agentOf: async (agent, options) => (options.eval ? withStandIns(db, agent, options) : agent),
      shareOf: async (options) => (options.eval ? shareOf(db, options) : undefined),
      runEnded: (options) => void (options.eval && look()),
      isBusy: () => runner.isBusy,
      close: () => runner.close(),
    };
  };
