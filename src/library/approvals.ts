import { LanefoldError } from '../errors.ts';
import { assertId } from '../ids.ts';
import type { Database } from '../postgres/pool.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { PromotedRun } from '../store/commit-step.ts';
import { toJob } from '../queue/job.ts';
import { assertStorable } from '../text.ts';
import type { RunStatus } from '../store/run-row.ts';

/** A tool call by its place in the run: the round, from 1, and its index in the round, from 0. */
export interface CallRef {
  round: number;
  index: number;
}

export interface DecisionOptions {
  /** Who decides, for the log. */
  by?: string;
  /** Why; the model is told the reason of a denial. */
  reason?: string;
}

export interface DecisionReceipt {
  decision: 'approved' | 'denied';
  by: string | null;
  reason: string | null;
  decidedAt: Date;
  /** The same decision had been made before; `by` and `reason` are those of then. */
  duplicate: boolean;
  /** Of the run: `suspended` while other calls wait. */
  status: RunStatus;
}

interface Decided {
  decision: 'approved' | 'denied';
  by: string | null;
  reason: string | null;
  decided_at: string;
  duplicate: boolean;
  status: RunStatus;
  job?: PromotedRun;
}

/** Decides on a call that waits for approval; with the last one of its round the run goes on. See `Runs.approve`. */
export async function decideToolCall(
  { db, queue }: { db: Database; queue: RunQueue },
  run: { threadId: string; id: string },
  call: CallRef,
  decision: Decided['decision'],
  { by, reason }: DecisionOptions = {},
): Promise<DecisionReceipt> {
  assertId(run.threadId, 'The thread id');
  assertId(run.id, 'The run id');
  if (!isPlace(call.round) || !isPlace(call.index)) {
    throw new LanefoldError('invalid_input', 'The tool call is not named by a round and an index.', {
      hint: 'Pass { round, index } as in the awaiting of the run.',
    });
  }
  assertStorable({ by, reason }, 'The decision');
  const [row] = await db.query<{ result: Decided }>(
    'decide_tool_call',
    'select lanefold.decide_tool_call($1, $2, $3, $4, $5) as result',
    [run.threadId, run.id, call.round, call.index, { decision, by, reason, queue_prefix: queue.prefix }],
  );
  const { job, decided_at: decidedAt, duplicate, status, ...word } = row!.result;
  // What cannot be added here, or is the job of another fleet's queue, is added by the next sweep of its workers.
  if (job?.queue_prefix === queue.prefix) await queue.add(toJob(job), job.queue_shard).catch(() => {});
  return { decision, by: word.by, reason: word.reason, decidedAt: new Date(decidedAt), duplicate, status };
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 15;
