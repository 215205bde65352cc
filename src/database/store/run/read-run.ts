import { isCut } from '../../../agent/context/cut.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Run, RunWait } from './run.ts';

/** The answer of `lanefold.read_run`. */
export interface RunRow {
  run: Record<string, never>;
}

export const toRun = ({ run }: RunRow): Run => ({
  ...(run as unknown as Run),
  truncated: isCut(run['finishReason']),
  waits: toWaits(run['waits']),
  suspendedUntil: date(run['suspendedUntil']),
  agentUnknownSince: date(run['agentUnknownSince']),
  startAt: date(run['startAt']),
  expiresAt: date(run['expiresAt']),
  createdAt: new Date(run['createdAt']!),
  startedAt: date(run['startedAt']),
  finishedAt: date(run['finishedAt']),
});

/** A wait as JSON. */
export type WaitJson = Omit<RunWait, 'since' | 'until'> & { since: string; until: string | null };

export const toWaits = (waits: readonly WaitJson[] | null | undefined): RunWait[] =>
  (waits ?? []).map((wait) => ({ ...wait, since: new Date(wait.since), until: date(wait.until) }));

const date = (text: string | null | undefined): Date | null => (text ? new Date(text) : null);

/** A run, or undefined. */
export async function readRun(db: Database, threadId: string, id: string): Promise<Run | undefined> {
  const [row] = await db.query<{ run: RunRow['run'] | null }>('read_run', 'select lanefold.read_run($1, $2) as run', [
    threadId,
    id,
  ]);
  return row?.run ? toRun({ run: row.run }) : undefined;
}
