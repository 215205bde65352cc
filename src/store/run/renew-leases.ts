import { isTransient } from '../../postgres/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import { reportWorker, toReport, type WorkerReport } from '../worker/report-worker.ts';

export interface LeaseAnswer {
  /** Another worker has the run, or it ended or is gone. */
  lost: boolean;
  cancelRequested: boolean;
  /** False without `lost` where a writer held the row: the next renewal will do. */
  renewed: boolean;
}

/** Called for each lease that was answered; `askedAt`, on the clock of `performance`, is when its renewal was requested. */
export type OnLeaseAnswer<Lease> = (lease: Lease, answer: LeaseAnswer, askedAt: number) => void;

interface LeaseRow {
  thread_id: string;
  run_id: string;
  lost: boolean;
  cancel_requested: boolean;
  renewed: boolean;
}

/**
 * Renews the leases of a worker; one that a writer holds is left to the next time. With a `report`, this is its heartbeat as
 * well. Rejects where the database does not answer or refuses.
 */
export const renewLeases = <Lease extends HeldLease>(
  db: Database,
  held: readonly Lease[],
  leaseMs: number,
  onAnswer: OnLeaseAnswer<Lease>,
  report?: WorkerReport,
): Promise<void> => (db.settings.distributed ? renewEach : renewTogether)(db, held, leaseMs, onAnswer, report);

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
        ...[leases, leaseMs],
        ...[report.id, toReport(report)],
      ])
    : await db.query<LeaseRow>('renew_leases', renewed, [leases, leaseMs]);
  const rowOf = new Map(rows.map((row) => [`${row.thread_id} ${row.run_id}`, row]));
  for (const lease of held) onAnswer(lease, toAnswer(rowOf.get(`${lease.threadId} ${lease.runId}`)), askedAt);
}

/** A lease whose node does not answer is not renewed, and those of other nodes are. */
async function renewEach<Lease extends HeldLease>(
  db: Database,
  held: readonly Lease[],
  leaseMs: number,
  onAnswer: OnLeaseAnswer<Lease>,
  report: WorkerReport | undefined,
): Promise<void> {
  let answered = false;
  await eachThread(held, async (lease) => {
    const askedAt = performance.now();
    const [row] = await db.query<LeaseRow>(
      'renew_lease',
      'select lost, cancel_requested, renewed from lanefold.renew_lease($1, $2, $3, $4)',
      [lease.threadId, lease.runId, lease.lease, leaseMs],
    );
    answered = true;
    onAnswer(lease, toAnswer(row), askedAt);
    return [];
  }).catch((error: unknown) => {
    if (!isTransient(error)) throw error;
  });
  // whether the database answers, the coordinator says where no node did or there was none to ask
  if (report) await reportWorker(db, report);
  else if (!answered) await db.query('answers', 'select 1');
}

/** Without a row there is nothing to tell of a lease but that it was renewed. */
const toAnswer = (row: LeaseRow | undefined): LeaseAnswer =>
  row
    ? { lost: row.lost, cancelRequested: row.cancel_requested, renewed: row.renewed }
    : { lost: false, cancelRequested: false, renewed: true };

/** What a write of the worker that holds a run is fenced by. */
export interface HeldLease {
  readonly threadId: string;
  readonly runId: string;
  readonly leaseMs: number;
  readonly lease: number;
  /** The step the worker believes the run is at. */
  readonly step: number;
}
