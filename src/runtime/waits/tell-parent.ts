import { costOf } from '../../library/runs/cost.ts';
import { dispatchFirst } from '../../queue/dispatch.ts';
import { readRun } from '../../store/run/read-run.ts';
import { spentOf } from '../../store/run/spent.ts';
import { endChild, isToStart, readChildren, toldParent, type EndedChild } from '../../store/wait/child-runs.ts';
import type { CallResult } from '../../store/wait/end-wait.ts';
import { errorMessage } from '../../tools/error-message.ts';
import { childResult } from './child-result.ts';
import type { WaitDependencies } from './dependencies.ts';

/** Gives the answer of an ended child run to the calls that wait for it, whose runs go on. Does nothing before its end. */
export async function tellParent({ db, queue, counting, onError }: WaitDependencies, child: EndedChild): Promise<void> {
  let run = await readRun(db, child.thread_id, child.run_id);
  if (!run) {
    // a call may wait for a run before it has started
    if (await isToStart(db, child)) return;
    run = await readRun(db, child.thread_id, child.run_id);
  }
  if (run && !run.finishedAt) return;
  let outcome: CallResult = gone;
  let cost: number | null = null;
  if (run) {
    outcome = childResult(run);
    const own = await costOf(counting, spentOf(run));
    const below = await readChildren(db, { threadId: run.threadId, runId: run.id });
    cost = own.cost === null && below.cost === 0 ? null : (own.cost ?? 0) + below.cost;
  }
  const jobs = await endChild(db, child, { outcome, cost, queuePrefix: queue.prefix });
  await dispatchFirst(db, queue, jobs, onError);
  await toldParent(db, child);
}

const gone = errorMessage({
  type: 'agent_gone',
  message: 'The run of the agent does not exist: it could not start, or its thread was erased.',
  retryable: false,
});
