import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { StartPart } from '../../../worker/part.ts';
import type { Scorer } from '../../evals/scorers/scorer.ts';
import { MonitorRunner } from './monitor-runner.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { dropScores } from '../store/run-scores.ts';

/** Scores a share of the runs that end. */
export const monitorsPart =
  (acceptingFor: (tenant: string) => EnqueueDeps, scorers: readonly Scorer[]): StartPart =>
  ({ db, agents, privatePrefix: queuePrefix, sweepMs, retentionDays, onError }) => {
    const runner = new MonitorRunner({ db, queuePrefix, agents, scorers, acceptingFor, sweepMs, onError });
    const dropOld = { everyMs: 600_000, work: () => dropOldScores(db, retentionDays) };
    return {
      sweeps: [{ work: () => runner.look() }, ...(retentionDays > 0 ? [dropOld] : [])],
      close: () => runner.close(),
    };
  };

const batch = 1_000;
const mostBatches = 20;

/** Deletes scores of monitors that are older than this. */
async function dropOldScores(db: Database, days: number): Promise<void> {
  for (let no = 0; no < mostBatches; no++) if ((await dropScores(db, days, batch)) < batch) return;
}
