import type { RunStatus } from '../run/types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { CallRef } from '../../../base/checks/unknown-keys.ts';

/** The result that the end of a wait gives its call. */
export interface CallResult {
  status: 'ok' | 'error';
  content: string;
  refs?: JsonObject;
}

export interface WaitEnd {
  status: 'resolved' | 'released';
  outcome: CallResult;
  by?: string | undefined;
  /** The prefix of the queue to which the caller adds the job. */
  queuePrefix: string;
}

export type WaitStatus = 'open' | 'resolved' | 'expired' | 'released' | 'abandoned';

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
  const [row] = await db.queryLocking<{ result: EndedWait }>(
    'end_wait',
    'select lanefold.end_wait($1, $2, $3, $4, $5) as result',
    [run.threadId, run.runId, round, index, { ...end, queue_prefix: queuePrefix }],
  );
  return row!.result;
}
