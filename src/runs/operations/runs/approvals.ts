import type { DecisionReceipt } from '../../../database/store/wait/types.ts';
import { readCall } from '../../../base/checks/call-name.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatchFirst } from '../../queue/relay.ts';
import { checked } from '../../../base/operations/checked.ts';
import { listApprovals } from '../../../database/store/wait/list-approvals.ts';
import { approvals } from './declaration.ts';
import type { Approvals, DeclaredRuns } from './types.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { decideToolCall } from '../../../database/store/wait/decide-tool-call.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import type { RunRef } from '../../../database/store/run/run.ts';

/** Decides on a call that waits for approval; the last decision of its round resumes the run. See `Runs.approve`. */
export async function decideCall(
  { db, queue }: { db: Database; queue: RunQueue },
  run: RunRef,
  call: string,
  decision: 'approved' | 'denied',
  { by, reason }: NonNullable<Parameters<DeclaredRuns['approve']>[2]> = {},
): Promise<DecisionReceipt> {
  assertId(run.threadId, 'The thread id');
  assertId(run.id, 'The run id');
  const place = readCall(call);
  assertStorable({ by, reason }, 'The decision');
  const word = { decision, by, reason, queuePrefix: queue.prefix };
  const { receipt, job } = await decideToolCall(db, run.threadId, run.id, place, word);
  if (job) await briefly(dispatchFirst(db, queue, [job]));
  return receipt;
}

/** The calls of all threads that wait for approval. */
export const approvalsOf = (db: Database): Approvals =>
  checked(approvals, { list: ({ after, limit = 50 } = {}) => listApprovals(db, { after, limit }) } as Approvals);
