import type { Database } from '../../postgres/pool.ts';
import type { Run } from './run.ts';

/** The answer of `lanefold.read_run`. */
export interface RunRow {
  run: Record<string, never>;
}

export const toRun = ({ run }: RunRow): Run => ({
  ...(run as unknown as Run),
  suspendedUntil: date(run['suspendedUntil']),
  agentUnknownSince: date(run['agentUnknownSince']),
  startAt: date(run['startAt']),
  expiresAt: date(run['expiresAt']),
  createdAt: new Date(run['createdAt']!),
  startedAt: date(run['startedAt']),
  finishedAt: date(run['finishedAt']),
});

const date = (text: string | null | undefined): Date | null => (text ? new Date(text) : null);

/** A run, or undefined. */
export async function readRun(db: Database, threadId: string, id: string): Promise<Run | undefined> {
  const [row] = await db.query<{ run: RunRow['run'] | null }>('read_run', 'select lanefold.read_run($1, $2) as run', [
    threadId,
    id,
  ]);
  return row?.run ? toRun({ run: row.run }) : undefined;
}
