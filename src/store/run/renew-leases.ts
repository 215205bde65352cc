import type { Database } from '../../postgres/pool.ts';
import type { HeldLease } from './held-lease.ts';

/** What a worker must know of a lease it asked to renew; a lease without a notice was renewed. */
export interface LeaseNotice {
  thread_id: string;
  run_id: string;
  lost: boolean;
  cancel_requested: boolean;
  renewed: boolean;
}

/** Renews many leases in one round trip; each is a call of its own, so none waits for another. */
export const renewLeases = (db: Database, held: readonly HeldLease[], leaseMs: number): Promise<LeaseNotice[]> =>
  db.query<LeaseNotice>(
    'renew_leases',
    `select h.thread_id, h.run_id, r.lost, r.cancel_requested, r.renewed
     from jsonb_to_recordset($1) as h (thread_id text, run_id text, lease bigint)
     cross join lateral lanefold.renew_lease(h.thread_id, h.run_id, h.lease, $2) r
     where r.lost or r.cancel_requested or not r.renewed`,
    [JSON.stringify(held.map((run) => ({ thread_id: run.threadId, run_id: run.runId, lease: run.lease }))), leaseMs],
  );
