import type { Database } from '../../postgres/pool.ts';
import type { ListPage } from '../rows.ts';
import { countFound } from './count-found.ts';
import { listRuns } from './list-runs.ts';
import type { RunRef } from './run.ts';
import type { ListedRun, RunSelection, RunStatus } from './types.ts';

/** A run that a filter selects. */
export type SelectedRun = Pick<ListedRun, 'threadId' | 'id' | 'agent' | 'status' | 'createdAt' | 'waits'>;

/** Counts stop here. */
export const mostCounted = 10_000;
const pageSize = 1_000;

/** How many runs a filter selects, of the newest `mostCounted`; of those with these statuses, if given. */
export async function countSelected(
  db: Database,
  filter: RunSelection,
  statuses?: readonly RunStatus[],
): Promise<number> {
  const counts = await countFound(db, filter, mostCounted);
  const counted = counts.statuses.filter(({ status }) => statuses?.includes(status) ?? true);
  return counted.reduce((sum, { runs }) => sum + runs, 0);
}

/** Runs that a filter selects, newest first. A page may be short, or empty, before the last one. */
export const selectRuns = async (
  db: Database,
  filter: RunSelection,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<SelectedRun>> => listRuns(db, { ...filter, ...(after === undefined ? {} : { after }), limit });

/** How many runs with these statuses a filter selects after a cursor; at most `mostCounted`. */
export async function countAfter(
  db: Database,
  filter: RunSelection,
  statuses: readonly RunStatus[],
  after: string,
): Promise<number> {
  let count = 0;
  for (let next: string | null = after; next !== null && count < mostCounted;) {
    const page: ListPage<SelectedRun> = await selectRuns(db, filter, { after: next, limit: pageSize });
    count += page.data.filter(({ status }) => statuses.includes(status)).length;
    next = page.nextAfter;
  }
  return Math.min(count, mostCounted);
}

/** The newest runs that a filter selects. */
export async function newestRuns(db: Database, filter: RunSelection, limit: number): Promise<RunRef[]> {
  const { data } = await selectRuns(db, filter, { limit });
  return data.map(({ threadId, id }) => ({ threadId, id }));
}
