import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';

/** Takes an unfinished run that no worker holds up again, at the step of a checkpoint. Returns the job it needs, if any. */
export async function resumeRun(
  db: Database,
  threadId: string,
  runId: string,
  { step, queuePrefix }: { step: number; queuePrefix: string },
): Promise<QueuedRun | undefined> {
  const [row] = await db.queryLocking<{ result: { job?: QueuedRun } }>(
    'resume_run',
    'select lanefold.resume_run($1, $2, $3, $4) as result',
    [threadId, runId, step, queuePrefix],
  );
  return row!.result.job;
}
