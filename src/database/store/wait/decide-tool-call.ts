import type { DecisionReceipt } from '../run/types.ts';
import type { Database } from '../../postgres/pool.ts';
import type { CallRef } from '../../../base/checks/unknown-keys.ts';
import type { QueuedRun } from '../run/queued-run.ts';

export interface Decision {
  decision: 'approved' | 'denied';
  by?: string | undefined;
  reason?: string | undefined;
  /** The prefix of the queue to which the caller adds the job. */
  queuePrefix: string;
}

interface Decided extends Omit<DecisionReceipt, 'threadId' | 'runId' | 'decidedAt'> {
  decided_at: string;
  job?: QueuedRun;
}

/** Decides on a call that waits for approval. The last decision of a round queues the run again: `job`. */
export async function decideToolCall(
  db: Database,
  threadId: string,
  runId: string,
  call: CallRef,
  { queuePrefix, ...decision }: Decision,
): Promise<{ receipt: DecisionReceipt; job?: QueuedRun | undefined }> {
  const [row] = await db.queryLocking<{ result: Decided }>(
    'decide_tool_call',
    'select lanefold.decide_tool_call($1, $2, $3, $4, $5) as result',
    [threadId, runId, call.round, call.index, { ...decision, queue_prefix: queuePrefix }],
  );
  const { job, decided_at: decidedAt, ...decided } = row!.result;
  return { receipt: { threadId, runId, ...decided, decidedAt: new Date(decidedAt) }, job };
}
