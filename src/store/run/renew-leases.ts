import { isNodeUnreachable } from '../../postgres/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import type { HeldLease } from './held-lease.ts';

/** What a worker must know of a lease it asked to renew; a lease without a notice was renewed. */
export interface LeaseNotice {
  thread_id: string;
  run_id: string;
  lost: boolean;
  cancel_requested: boolean;
  renewed: boolean;
}

/** Renews many leases in one round trip; one that a writer holds is left to the next time. */
export const renewLeases = (db: Database, held: readonly HeldLease[], leaseMs: number): Promise<LeaseNotice[]> =>
  db.settings.distributed ? renewEach(db, held, leaseMs) : renewTogether(db, held, leaseMs);

const renewTogether = (db: Database, held: readonly HeldLease[], leaseMs: number) =>
  db.query<LeaseNotice>(
    'renew_leases',
    'select thread_id, run_id, lost, cancel_requested, renewed from lanefold.renew_leases($1, $2)',
    [JSON.stringify(held.map((run) => ({ thread_id: run.threadId, run_id: run.runId, lease: run.lease }))), leaseMs],
  );

/**
 * A lease whose node does not answer was not renewed. Where no node answered, or there was none to ask, the coordinator says
 * whether the database answers: threads of other nodes need not wait for these.
 */
async function renewEach(db: Database, held: readonly HeldLease[], leaseMs: number): Promise<LeaseNotice[]> {
  const answers = await eachThread(held, ({ threadId: thread_id, runId: run_id, lease }) =>
    db.query<LeaseNotice>(
      'renew_lease',
      'select $1 as thread_id, $2 as run_id, lost, cancel_requested, renewed from lanefold.renew_lease($1, $2, $3, $4)',
      [thread_id, run_id, lease, leaseMs],
    ),
  ).catch((error: unknown) => {
    if (isNodeUnreachable(error)) return [];
    throw error;
  });
  if (answers.length === 0) await db.query('answers', 'select 1');
  const answered = new Map(answers.map((notice) => [`${notice.thread_id} ${notice.run_id}`, notice]));
  return held.flatMap(({ threadId: thread_id, runId: run_id }) => {
    const notice = answered.get(`${thread_id} ${run_id}`);
    if (!notice) return { thread_id, run_id, lost: false, cancel_requested: false, renewed: false };
    return notice.lost || notice.cancel_requested || !notice.renewed ? notice : [];
  });
}
