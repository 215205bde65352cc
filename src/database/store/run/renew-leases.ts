import type { DatabaseFunctions } from '../functions.ts';
import { callRows } from '../call.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { askInTurn, byNode, callsPerNode } from '../each-thread.ts';
import { reportWorker, toReport, type WorkerReport } from '../worker/find-lacking.ts';
import { orLate } from '../../../base/common/timer.ts';

export interface LeaseAnswer {
  /** Another worker took the run over, or it has ended or is gone. */
  lost: boolean;
  cancelRequested: boolean;
  /** If this is false and `lost` is too, a writer held the row, and the next renewal tries again. */
  renewed: boolean;
}

/** Called for each lease with an answer; `askedAt` (`performance.now()`) is when its renewal was requested. */
export type OnLeaseAnswer<Lease> = (lease: Lease, answer: LeaseAnswer, askedAt: number) => void;

type LeaseRow = DatabaseFunctions['renew_leases']['returns'];

/**
 * Renews the leases of a worker; a lease whose row a writer holds is left for the next renewal. With a `report`, this
 * is also the worker's heartbeat. Rejects if the database does not answer, or reports an error.
 *
 * @param unanswered nodes that have yet to answer an earlier renewal, which this one leaves out and adds to
 */
export const renewLeases = <Lease extends HeldLease>(
  db: Database,
  held: readonly Lease[],
  leaseMs: number,
  onAnswer: OnLeaseAnswer<Lease>,
  report?: WorkerReport,
  unanswered?: Set<string>,
): Promise<void> =>
  db.settings.distributed
    ? renewEach(db, held, leaseMs, onAnswer, report, unanswered)
    : renewTogether(db, held, leaseMs, onAnswer, report);

const answer = 'thread_id, run_id, lost, cancel_requested, renewed';
const renewed = `select ${answer} from lanefold.renew_leases($1, $2)`;
const renewLeasesAndReport = `with report as materialized (select lanefold.report_worker($3, $4))
  select ${answer} from report left join (${renewed}) r on true`;

async function renewTogether<Lease extends HeldLease>(
  db: Database,
  held: readonly Lease[],
  leaseMs: number,
  onAnswer: OnLeaseAnswer<Lease>,
  report: WorkerReport | undefined,
): Promise<void> {
  const askedAt = performance.now();
  const leases = JSON.stringify(held.map((run) => ({ thread_id: run.threadId, run_id: run.runId, lease: run.lease })));
  const rows = report
    ? await db.query<LeaseRow>('renew_leases_and_report', renewLeasesAndReport, [
        leases,
        leaseMs,
        report.id,
        toReport(report),
      ])
    : await callRows(db.query, 'renew_leases', { leases, leaseMs });
  const rowOf = new Map(rows.map((row) => [`${row.thread_id} ${row.run_id}`, row]));
  for (const lease of held) onAnswer(lease, toAnswer(rowOf.get(`${lease.threadId} ${lease.runId}`)), askedAt);
}

/**
 * Leases on a node that does not answer are not renewed; those on other nodes are, and neither this renewal nor the next
 * one waits for that node.
 */
async function renewEach<Lease extends HeldLease>(
  db: Database,
  held: readonly Lease[],
  leaseMs: number,
  onAnswer: OnLeaseAnswer<Lease>,
  report: WorkerReport | undefined,
  unanswered = new Set<string>(),
): Promise<void> {
  let answered = false;
  const renew = async (lease: Lease) => {
    const askedAt = performance.now();
    const [row] = await callRows(db.query, 'renew_lease', {
      threadId: lease.threadId,
      runId: lease.runId,
      lease: lease.lease,
      leaseMs,
    });
    answered = true;
    onAnswer(lease, toAnswer(row), askedAt);
  };
  const nodes = byNode(db, held);
  const renewals = [...nodes]
    .filter(([node]) => !unanswered.has(node))
    .map(async ([node, leases]) => {
      unanswered.add(node);
      const fault = await askInTurn(leases, callsPerNode(nodes.size), renew);
      unanswered.delete(node);
      if (fault && !isTransient(fault.reason)) throw fault.reason;
    });
  await orLate(leaseMs / 6, Promise.all(renewals), () => undefined);
  // if no node answered, or there was none to ask, the coordinator shows whether the database answers at all
  if (report) await reportWorker(db, report);
  else if (!answered) await db.query('answers', 'select 1');
}

/** The database returns no row for a lease that was simply renewed. */
const toAnswer = (row: Omit<LeaseRow, 'thread_id' | 'run_id'> | undefined): LeaseAnswer =>
  row
    ? { lost: row.lost, cancelRequested: row.cancel_requested, renewed: row.renewed }
    : { lost: false, cancelRequested: false, renewed: true };

/** The lease that fences the writes of the worker that holds a run. */
export interface HeldLease {
  readonly threadId: string;
  readonly runId: string;
  readonly leaseMs: number;
  readonly lease: number;
  /** The step the worker believes the run is at. */
  readonly step: number;
}
