import pLimit from 'p-limit';
import { LanefoldError, errorStatus, isLanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readNow } from '../../../database/store/database-clock.ts';
import { callsAtOnce } from '../../../database/store/each-thread.ts';
import {
  countAfter,
  countSelected,
  mostCounted,
  selectRuns,
  type SelectedRun,
} from '../../../database/store/run/select-runs.ts';
import type { RunSelection, RunStatus } from '../../../database/store/run/types.ts';
import type { BulkReceipt } from './types.ts';

export interface BulkOptions {
  dryRun?: boolean;
  limit?: number;
  after?: string;
}

type BulkRun = BulkReceipt['runs'][number];

export interface BulkAct {
  /** The statuses of runs that it concerns. */
  concerns: readonly RunStatus[];
  /** What became of it. @param before the moment of the preview */
  act: (run: SelectedRun, before: Date) => Promise<Pick<BulkRun, 'outcome' | 'started' | 'caseId'>>;
}

export const ended: readonly RunStatus[] = ['completed', 'failed', 'cancelled'];
export const unended: readonly RunStatus[] = ['waiting', 'queued', 'running', 'suspended'];

/** How many runs a preview shows. */
const previewed = 5;

/**
 * Acts on each run that a filter selects, up to `limit`, and says what became of each: a run that is refused stops no other.
 * The runs of a thread come one after the other, the oldest first.
 *
 * @throws LanefoldError `invalid_input` without the moment of a preview: runs that appear later must not be among them
 */
export async function overRuns(
  db: Database,
  filter: RunSelection,
  { dryRun = false, limit = 100, after }: BulkOptions,
  { concerns, act }: BulkAct,
): Promise<BulkReceipt> {
  if (!dryRun && filter.createdBefore === undefined) throw unpreviewed();
  const createdBefore = filter.createdBefore ?? (await readNow(db));
  const selection = { ...filter, createdBefore };
  const { lists } = db;
  const { runs, nextAfter } = await choose(lists, selection, concerns, dryRun ? previewed : limit, after);
  if (dryRun) {
    const matched = await countSelected(lists, selection, concerns);
    const shown = runs.map((run) => ({ ...named(run), outcome: null }));
    return { dryRun, createdBefore, matched, runs: shown, left: matched, nextAfter: null };
  }
  const left = nextAfter === null ? 0 : await countAfter(lists, selection, concerns, nextAfter);
  const answer = { dryRun, createdBefore, matched: Math.min(mostCounted, runs.length + left) };
  return { ...answer, runs: await actOn(runs, (run) => act(run, createdBefore)), left, nextAfter };
}

async function choose(
  db: Database,
  filter: RunSelection,
  concerns: BulkAct['concerns'],
  most: number,
  from: string | undefined,
): Promise<{ runs: SelectedRun[]; nextAfter: string | null }> {
  const runs: SelectedRun[] = [];
  let after: string | null | undefined = from;
  while (after !== null && runs.length < most) {
    const page = await selectRuns(db, filter, { after, limit: most - runs.length });
    runs.push(...page.data.filter(({ status }) => concerns.includes(status)));
    after = page.nextAfter;
  }
  return { runs, nextAfter: after ?? null };
}

async function actOn(
  runs: readonly SelectedRun[],
  act: (run: SelectedRun) => ReturnType<BulkAct['act']>,
): Promise<BulkRun[]> {
  const atOnce = pLimit(callsAtOnce);
  const settled = new Map<SelectedRun, BulkRun>();
  const failures: unknown[] = [];
  const settle = async (run: SelectedRun): Promise<void> => {
    try {
      settled.set(run, { ...named(run), ...(await act(run)) });
    } catch (error) {
      if (isServerError(error)) failures.push(error);
      settled.set(run, { ...named(run), outcome: 'refused', error: toError(error) });
    }
  };
  const byThread = new Map<string, SelectedRun[]>();
  for (const run of [...runs].reverse()) byThread.set(run.threadId, [...(byThread.get(run.threadId) ?? []), run]);
  const threads = [...byThread.values()].map((own) =>
    atOnce(async () => {
      for (const run of own) await settle(run);
    }),
  );
  await Promise.all(threads);
  // the server fails, and refuses no run: the request may be repeated
  if (failures.length > 0 && failures.length === runs.length) throw failures[0] as Error;
  return runs.map((run) => settled.get(run)!);
}

const named = ({ threadId, id, agent, status, createdAt }: SelectedRun) => ({ threadId, id, agent, status, createdAt });

const isServerError = (error: unknown): boolean => !isLanefoldError(error) || errorStatus[error.code] >= 500;

function toError(error: unknown): NonNullable<BulkRun['error']> {
  if (isLanefoldError(error) && !isServerError(error)) return { code: error.code, message: error.message };
  const code = isLanefoldError(error) ? error.code : 'internal';
  return { code, message: 'The server failed. Repeat the request.' };
}

const unpreviewed = (): LanefoldError =>
  new LanefoldError('invalid_input', 'The filter has no createdBefore.', {
    hint: 'Nothing was written. Call it with dryRun: true first, and pass the createdBefore that it returns in the filter.',
    details: { field: 'filter.createdBefore', problem: 'is required unless dryRun is true' },
  });
