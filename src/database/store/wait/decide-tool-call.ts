import type { DecisionReceipt } from './types.ts';
import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import type { CallRef } from '../../../base/checks/call-name.ts';
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
  ref: CallRef,
  { queuePrefix, ...decision }: Decision,
): Promise<{ receipt: DecisionReceipt; job?: QueuedRun | undefined }> {
  const {
    job,
    decided_at: decidedAt,
    ...decided
  } = (await call(db.queryLocking, 'decide_tool_call', {
    threadId,
    runId,
    round: ref.round,
    callIndex: ref.index,
    p: { ...decision, queue_prefix: queuePrefix },
  })) as Decided;
  return { receipt: { threadId, runId, ...decided, decidedAt: new Date(decidedAt) }, job };
}
