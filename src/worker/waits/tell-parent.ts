import { costOf } from '../../runs/operations/runs/cost.ts';
import { dispatchFirst } from '../../runs/queue/relay.ts';
import { readRun } from '../../database/store/run/read-run.ts';
import { spentOf } from '../../database/store/run/spent.ts';
import {
  endChild,
  isToStart,
  readChildren,
  toldParent,
  type EndedChild,
} from '../../database/store/wait/child-runs.ts';
import type { CallResult } from '../../database/store/wait/end-wait.ts';
import { errorMessage, renderResult } from '../../agent/tools/outcome.ts';
import type { Counting } from '../../agent/models/counting.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import type { WaitFleet } from '../../database/store/wait/wait-fleet.ts';
import type { StoredChild } from '../../database/store/wait/wait-tasks.ts';
import type { Run, RunHandle, RunRef } from '../../database/store/run/run.ts';

/** How the runs that tool calls start are requested. */
export interface ChildRequests {
  start(tenant: string, child: RunRef, request: StoredChild): Promise<RunHandle>;
  cancel(tenant: string, run: RunRef): Promise<unknown>;
}

export interface WaitDependencies {
  db: Database;
  queue: RunQueue;
  counting: Counting;
  /** The agents of this process. */
  agents: readonly string[];
  /** Whose waits this process looks after. */
  fleet: WaitFleet;
  children: ChildRequests;
  onError: (error: unknown) => void;
}

/** Gives the answer of an ended child run to the calls that wait for it, and so resumes their runs. Does nothing before its end. */
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

/** In bytes. The caller applies the limit of its tool, which only it knows. */
const maxResultBytes = 16_777_216;

/** The result of a call that waited for a run: the answer of the run, or why it has none. */
function childResult(run: Run): CallResult {
  const { threadId, id, agent } = run;
  const { status, content } = resultOf(run);
  return { status, content, refs: { child_run: { agent, thread_id: threadId, run_id: id } } };
}

function resultOf({ agent, status, result, error, terminationReason }: Run): Pick<CallResult, 'status' | 'content'> {
  const failed = (type: string, message: string) => errorMessage({ type, message, retryable: false });
  if (status === 'cancelled') return failed('agent_cancelled', `The agent ${agent} was cancelled.`);
  if (status === 'failed') return failed('agent_failed', `The agent ${agent} failed: ${error?.message ?? 'unknown'}`);
  if (result === null)
    return failed('agent_no_result', `The agent ${agent} ended without an answer: ${terminationReason}.`);
  return renderResult(result, maxResultBytes);
}
