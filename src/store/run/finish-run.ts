import type { Usage } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { EventDraft, RunError } from '../../strategies/machine.ts';
import { callFunction } from '../call-function.ts';
import { packEvents } from '../trace/pack-events.ts';
import type { HeldLease } from './held-lease.ts';
import type { QueuedRun } from './queued-run.ts';

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
  events?: EventDraft[];
}

/** Ends a run that its machine cannot finish, by its worker. The database closes the open tool group first. */
export async function finishRun(db: Database, run: HeldLease, { events, ...end }: AbnormalEnd): Promise<FinishResult> {
  const body = { ...end, ...(events ? { events: packEvents(run.runId, events) } : {}) };
  return callFunction(db, 'finish_run', run.threadId, [run.runId, run.lease, body]);
}

/** Ends a cancelled run without its worker. Undefined where a writer holds the thread: the next sweep tries again. */
export async function finishCancelledRun(
  db: Database,
  run: Pick<QueuedRun, 'thread_id' | 'run_id'>,
): Promise<FinishResult | undefined> {
  const [row] = await db.query<{ result: FinishResult | null }>(
    'finish_cancelled_run',
    'select lanefold.finish_cancelled_run($1, $2) as result',
    [run.thread_id, run.run_id],
  );
  return row!.result ?? undefined;
}

/** Ends a run that no worker has started in time. Undefined where that is not so any more, or where a writer holds it. */
export async function failExpired(
  db: Database,
  run: Pick<QueuedRun, 'thread_id' | 'run_id'>,
): Promise<FinishResult | undefined> {
  const [row] = await db.query<{ result: FinishResult | null }>(
    'fail_expired',
    'select lanefold.fail_expired($1, $2) as result',
    [run.thread_id, run.run_id],
  );
  return row!.result ?? undefined;
}

/** Ends a run for whose agent no worker was seen for `limitMs`. Undefined where that is not so any more, or where a writer holds it. */
export async function failUnknownAgent(
  db: Database,
  run: QueuedRun,
  limitMs: number,
): Promise<FinishResult | undefined> {
  const [row] = await db.query<{ result: FinishResult | null }>(
    'fail_unknown_agent',
    'select lanefold.fail_unknown_agent($1, $2, $3) as result',
    [run.thread_id, run.run_id, limitMs],
  );
  return row!.result ?? undefined;
}
