import type { Counting } from '../../../agent/models/counting.ts';
import { type Usage, addUsage } from '../../../agent/context/message.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { readTree } from '../../../database/store/run/read-tree.ts';
import { spentOf } from '../../../database/store/run/spent.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { costOf } from './cost.ts';
import type { RunTree } from './types.ts';

/** The tree that a run belongs to. See `Runs.tree`. */
export async function treeOf({ db, counting }: { db: Database; counting: Counting }, run: RunRef): Promise<RunTree> {
  const rows = await readTree(db, run.threadId, run.id);
  if (rows.length === 0) throw runNotFound(run.threadId, run.id);
  const runs = await Promise.all(
    rows.map(async ({ otherUsage, ...row }) => ({
      ...row,
      ...(await costOf(counting, spentOf({ ...row, otherUsage }))),
    })),
  );
  let usage: Usage | undefined;
  let cost: number | null = null;
  let unpricedTokens = 0;
  for (const one of runs) {
    if (one.usage) usage = addUsage(usage, one.usage);
    if (one.cost !== null) cost = (cost ?? 0) + one.cost;
    unpricedTokens += one.unpricedTokens;
  }
  const [{ threadId, id }] = rows as unknown as [RunRef];
  return { root: { threadId, id }, runs, usage: usage ?? null, cost, unpricedTokens };
}
