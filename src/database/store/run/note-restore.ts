import { call } from '../call.ts';
import { randomInt } from 'node:crypto';
import type { Database } from '../../postgres/pool.ts';
import { microsSql, timestampSql } from '../rows.ts';
import { longestGap } from './claim-run.ts';
import type { QueuedRun } from './queued-run.ts';
import type { RunRef } from './run.ts';

const page = 500;

/** Yields the runs of a fleet that have not ended, in the order of their acceptance. */
export async function* unfinishedRuns(db: Database, queuePrefix: string): AsyncGenerator<RunRef> {
  for (let after: [string, string, string] | undefined; ;) {
    const rows = await db.queryLong<{ thread_id: string; id: string; at: string }>(
      `unfinished_runs${after ? '_after' : ''}`,
      `select thread_id, id, ${microsSql('created_at')} as at from lanefold._run
       where finished_at is null and queue_prefix = $1
         ${after ? `and (created_at, thread_id, id) > (${timestampSql('$2')}, $3, $4)` : ''}
       order by created_at, thread_id, id limit ${page}`,
      [queuePrefix, ...(after ?? [])],
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
): Promise<{ job: QueuedRun | undefined } | undefined> {
  const result = (await call(db.queryLocking, 'note_restore', {
    threadId,
    runId: id,
    p: { lease_gap: randomInt(1, longestGap), prefix: queuePrefix },
  })) as { promoted?: QueuedRun } | null;
  return result === null ? undefined : { job: result.promoted };
}

/** Which of these runs the database does not have. */
export async function missingRuns(db: Database, runs: readonly RunRef[]): Promise<RunRef[]> {
  const rows = await db.queryLong<{ thread_id: string; id: string }>(
    'known_runs',
    'select thread_id, id from lanefold._run where thread_id = any ($1) and id = any ($2)',
    [runs.map(({ threadId }) => threadId), runs.map(({ id }) => id)],
  );
  return runs.filter((run) => !rows.some(({ thread_id, id }) => thread_id === run.threadId && id === run.id));
}
