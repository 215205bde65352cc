import { randomInt } from 'node:crypto';
import type { Database } from '../../postgres/pool.ts';
import { longestGap } from './claim-run.ts';
import type { QueuedRun } from './queued-run.ts';
import type { RunRef } from './run.ts';

const page = 500;

/** Yields the runs of a fleet that have not ended, those accepted first ahead of the others. */
export async function* unfinishedRuns(db: Database, queuePrefix: string): AsyncGenerator<RunRef> {
  for (let after = ['-infinity', '', '']; ;) {
    const rows = await db.queryLong<{ thread_id: string; id: string; at: string }>(
      'unfinished_runs',
      `select thread_id, id, created_at::text as at from lanefold._run
       where finished_at is null and queue_prefix = $1 and (created_at, thread_id, id) > ($2::timestamptz, $3::text, $4::text)
       order by created_at, thread_id, id limit ${page}`,
      [queuePrefix, ...after],
    );
    for (const { thread_id: threadId, id } of rows) yield { threadId, id };
    const last = rows.at(-1);
    if (!last || rows.length < page) return;
    after = [last.at, last.thread_id, last.id];
  }
}

/** Queues an unfinished run again after the database was restored: see `note_restore`. Undefined if it ended meanwhile. */
export async function noteRestore(
  db: Database,
  { threadId, id }: RunRef,
  queuePrefix: string,
): Promise<{ job?: QueuedRun } | undefined> {
  const [row] = await db.queryLocking<{ result: QueuedRun | Record<string, never> | null }>(
    'note_restore',
    'select lanefold.note_restore($1, $2, $3) as result',
    [threadId, id, { lease_gap: randomInt(1, longestGap), prefix: queuePrefix }],
  );
  const { result } = row!;
  if (result === null) return undefined;
  return 'run_id' in result ? { job: result as QueuedRun } : {};
}

/** Which of these runs the database knows. */
export async function knownRuns(db: Database, runs: readonly RunRef[]): Promise<Set<string>> {
  const rows = await db.queryLong<{ thread_id: string; id: string }>(
    'known_runs',
    `select r.thread_id, r.id from lanefold._run r
     where r.thread_id = any ($1) and r.id = any ($2)`,
    [runs.map(({ threadId }) => threadId), runs.map(({ id }) => id)],
  );
  return new Set(rows.map(({ thread_id, id }) => `${thread_id} ${id}`));
}
