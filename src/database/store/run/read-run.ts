import type { RunWait } from './types.ts';
import { call } from '../call.ts';
import { isCut } from '../../../agent/context/fold.ts';
import type { Database } from '../../postgres/pool.ts';
import { fromRow, fromRows } from '../rows.ts';
import type { Run } from './run.ts';

/** The answer of `lanefold.read_run`. */
export interface RunRow {
  run: object;
}

export function toRun({ run }: RunRow): Run {
  const row = fromRow<Omit<Run, 'truncated' | 'waits' | 'parent'> & { waits: object[]; parent: object | null }>(run);
  return { ...row, truncated: isCut(row.finishReason), waits: toWaits(row.waits), parent: readRef(row.parent) };
}

export const toWaits = (waits: readonly object[] | null | undefined): RunWait[] =>
  fromRows<Omit<RunWait, 'run'> & { run: object | null }>(waits).map((wait) => ({ ...wait, run: readRef(wait.run) }));

/** What names another run, in JSON. */
export const readRef = <Ref>(ref: object | null): Ref | null => ref && fromRow<Ref>(ref);

/** A run, or undefined. */
export async function readRun(db: Database, threadId: string, id: string): Promise<Run | undefined> {
  const run = (await call(db.query, 'read_run', { threadId, runId: id })) as RunRow['run'] | null;
  return run ? toRun({ run }) : undefined;
}
