import { snakeKeys } from '../../../base/common/case.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from './capabilities.ts';

/** A time in which the event loop of a worker served nothing, in ms before its report. */
export interface Stall {
  /** `busy`: a call did not yield. `frozen`: it stood still, or its whole machine did. */
  kind: 'busy' | 'frozen';
  fromMs: number;
  toMs: number;
}

/** What a worker reports with each heartbeat. */
export interface WorkerReport extends Capabilities {
  id: string;
  host: string;
  pid: number;
  /** Of the package. */
  version: string;
  /** First part of the names of the queues it takes jobs from. */
  queue: string;
  concurrency: number;
  /** The worker counts as dead once it has been silent for this long. */
  deadAfterMs: number;
  runsHeld: number;
  /** It takes no more runs. */
  draining: boolean;
  /** It has ended: this is its last report. */
  stopped: boolean;
  /** Those that the database may not know yet. */
  stalls: Stall[];
}

/** The second argument of `lanefold.report_worker`. */
export const toReport = ({ id: _, stalls, ...report }: WorkerReport): string =>
  JSON.stringify({ ...snakeKeys(report), ...(stalls.length > 0 && { stalls: stalls.map(snakeKeys) }) });

/** A heartbeat sent alone, without renewing leases. */
export async function reportWorker(db: Database, report: WorkerReport): Promise<void> {
  await db.query('report_worker', 'select lanefold.report_worker($1, $2)', [report.id, toReport(report)]);
}
