import type { Database } from '../../../database/postgres/pool.ts';
import { findLacking } from '../../../database/store/worker/find-lacking.ts';
import type { EvalRow } from '../store/evals.ts';
import { readNeeds } from '../store/items.ts';

/**
 * What the waiting items of evals need and no live worker of their queue has, by eval: `agent`, or `agent@version`. The role
 * of one tenant does not see workers, and gets none.
 *
 * @param all the connections of the process: connections of one tenant see no workers
 */
export async function findUnattended(
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
