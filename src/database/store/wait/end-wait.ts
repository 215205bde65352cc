import type { RunStatus } from '../run/types.ts';
import { call } from '../call.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { CallRef } from '../../../base/checks/call-name.ts';

/** The result that the end of a wait gives its call. */
export interface CallResult {
  status: 'ok' | 'error';
  content: string;
  refs?: JsonObject;
}

export interface WaitEnd {
  status: 'resolved' | 'overridden';
  outcome: CallResult;
  by?: string | undefined;
  /** The prefix of the queue to which the caller adds the job. */
  queuePrefix: string;
}

export type WaitStatus = 'open' | 'resolved' | 'expired' | 'overridden' | 'abandoned';

export interface EndedWait {
  /** False: it had ended before, and this changed nothing. */
  ended: boolean;
  wait: WaitStatus;
  /** The status of the run: `suspended` while other calls wait. */
  status: RunStatus;
  job?: QueuedRun;
}

/** Ends a wait of a call; the first end counts. */
export async function endWait(
  db: Database,
  run: { threadId: string; runId: string },
  { round, index }: CallRef,
  { queuePrefix, ...end }: WaitEnd,
): Promise<EndedWait> {
  return (await call(db.queryLocking, 'end_wait', {
    threadId: run.threadId,
    runId: run.runId,
    round,
    callIndex: index,
    p: { ...end, queue_prefix: queuePrefix },
  })) as EndedWait;
}
