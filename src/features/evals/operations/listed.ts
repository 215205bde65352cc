import type { Database } from '../../../database/postgres/pool.ts';
import { findLacking } from '../../../database/store/worker/find-lacking.ts';
import type { EvalRow } from '../store/evals.ts';
import { readNeeds } from '../store/items.ts';
import type { ListedEval } from '../store/types.ts';
import { fromStored } from './stored.ts';

const none = { waiting: 0, running: 0, scoring: 0, done: 0, failed: 0, skipped: 0, erased: 0 };

/**
 * Evals as lists have them.
 *
 * @param all the connections of the process: connections of one tenant see no workers
 */
export async function toListed(db: Database, all: Database, evals: readonly EvalRow[]): Promise<ListedEval[]> {
  const unattended = await findUnattended(db, all, evals);
  return evals.map(({ spec, items, queuePrefix: _, ...row }) => ({
    ...row,
    unattended: unattended.get(row.id) ?? [],
    spec: fromStored(spec),
    items: { ...none, ...items },
  }));
}

/**
 * What the waiting items of evals need and no live worker of their queue has, by eval: `agent`, or `agent@version`. The role
 * of one tenant does not see workers, and gets none.
 */
async function findUnattended(
  db: Database,
  all: Database,
  evals: readonly EvalRow[],
): Promise<ReadonlyMap<string, string[]>> {
  const waiting = evals.filter(({ status, items }) => status === 'running' && (items.waiting ?? 0) > 0);
  if (waiting.length === 0) return new Map();
  const needs = (
    await readNeeds(
      db,
      waiting.map(({ id }) => id),
    )
  ).map(({ evalId, agent, variant }) => {
    const { queuePrefix: queue, spec } = waiting.find(({ id }) => id === evalId)!;
    return { evalId, queue, agent, version: spec.variants.find(({ name }) => name === variant)?.version };
  });
  const reasons = await findLacking(all, needs);
  if (!reasons) return new Map();
  const missing = needs.filter((_, place) => reasons[place] !== undefined);
  return new Map(
    waiting.map(({ id }) => {
      const own = missing.filter(({ evalId }) => evalId === id);
      return [
        id,
        [...new Set(own.map(({ agent, version }) => (version === undefined ? agent : `${agent}@${version}`)))].sort(),
      ];
    }),
  );
}
