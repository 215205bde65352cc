import { openEvals, startedItems, takeItems, type OpenEval, type StartedItem } from '../../store/eval/items.ts';
import { runsEnded } from '../../store/run/runs-ended.ts';
import type { EvalDependencies } from './dependencies.ts';
import { eraseThreads } from './erase-threads.ts';
import type { Scoring } from './scoring.ts';
import { startTaken } from './start-item.ts';

/** How long a worker has to start the run of an item that it took, before another one does. */
const startMs = 10_000;
const batch = 200;

/** Starts what waits, and scores what has ended. Items are started again as long as some have ended. */
export async function runEvals(deps: EvalDependencies, scoring: Scoring, stopping: () => boolean): Promise<void> {
  await eraseThreads(deps);
  for (const open of await openEvals(deps.db, deps.queuePrefix)) {
    if (stopping()) return;
    await runEval(deps, open, scoring, stopping).catch(deps.onError);
  }
}

async function runEval(
  deps: EvalDependencies,
  open: OpenEval,
  scoring: Scoring,
  stopping: () => boolean,
): Promise<void> {
  await scoreEnded(deps, open, scoring, stopping);
  // items that are skipped make room for others; those that wait for money would be taken again
  for (let goesOn = true; goesOn && !stopping();) {
    const taken = await takeItems(deps.db, open.id, deps.agents, startMs);
    const started = await Promise.allSettled(taken.map((item) => startTaken(deps, open, item)));
    for (const one of started) if (one.status === 'rejected') deps.onError(one.reason);
    goesOn = taken.length > 0 && started.every((one) => one.status === 'fulfilled' && one.value);
  }
}

async function scoreEnded(
  { db, agents }: EvalDependencies,
  open: OpenEval,
  scoring: Scoring,
  stopping: () => boolean,
): Promise<void> {
  for (let after = 0; !stopping();) {
    const items = await startedItems(db, open, agents, { after, limit: batch });
    const runs = items.map(awaited).filter((run) => run !== undefined);
    const ended = new Set((await runsEnded(db, runs)).map(keyOf));
    for (const item of items) {
      const run = awaited(item);
      // at most so many at once: others are for the next look, or for other workers
      if ((!run || ended.has(keyOf(run))) && !(await scoring.begin(open, item))) return;
    }
    if (items.length < batch) return;
    after = items.at(-1)!.no;
  }
}

/** The run that an item waits for. */
const awaited = ({ status, judge, threadId, runId }: StartedItem) =>
  judge ?? (status === 'running' ? { threadId, runId } : undefined);

const keyOf = ({ threadId, runId }: { threadId: string; runId: string }): string => `${threadId} ${runId}`;
