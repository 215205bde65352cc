import { call } from '../call.ts';
import type { Usage } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { EventDraft } from '../../../agent/strategies/machine.ts';
import type { RunError } from '../../../agent/strategies/records.ts';
import { callFunction, noticed } from '../call-function.ts';
import { packEvents } from '../trace/pack-events.ts';
import type { QueuedRun } from './queued-run.ts';
import type { HeldLease } from './renew-leases.ts';

export interface FinishResult {
  finished: boolean;
  status: string;
  /** The next run of the thread. */
  promoted?: QueuedRun;
}

export interface AbnormalEnd {
  status: 'failed' | 'cancelled';
  reason: string;
  error: RunError;
  usage?: Usage;
  other_usage?: Record<string, Usage>;
  events?: EventDraft[];
}

/** Lets the worker end a run that its strategy cannot finish. The database closes the open tool group first. */
export async function finishRun(db: Database, run: HeldLease, { events, ...end }: AbnormalEnd): Promise<FinishResult> {
  const body = { ...end, ...(events ? { events: packEvents(run.runId, events) } : {}) };
  const { threadId, runId, lease } = run;
  return callFunction<FinishResult>(db, 'finish_run', { threadId, runId, lease, p: body });
}

type Ending = Pick<QueuedRun, 'thread_id' | 'run_id'>;

/** Ends a cancelled run without its worker. Undefined if a writer holds the thread: the next sweep tries again. */
export const finishCancelledRun = (db: Database, run: Ending): Promise<FinishResult | undefined> =>
  endInSweep(db, call(db.query, 'finish_cancelled_run', keyOf(run)));

/** Fails a run that no worker started in time. Undefined if that is no longer true, or if a writer holds the run. */
export const failExpired = (db: Database, run: Ending): Promise<FinishResult | undefined> =>
  endInSweep(db, call(db.query, 'fail_expired', keyOf(run)));

/**
 * Fails a run whose agent no worker was seen to know for `limitMs`. Undefined if that is no longer true, or if a writer
 * holds the run.
 */
export const failUnknownAgent = (db: Database, run: Ending, limitMs: number): Promise<FinishResult | undefined> =>
  endInSweep(db, call(db.query, 'fail_unknown_agent', { ...keyOf(run), limitMs }));

const keyOf = ({ thread_id: threadId, run_id: runId }: Ending) => ({ threadId, runId });

async function endInSweep(db: Database, ending: Promise<unknown>): Promise<FinishResult | undefined> {
  return noticed(db, (await ending) as FinishResult | null) ?? undefined;
}
