import type { Database } from '../../postgres/pool.ts';
import type { EvalRow } from '../../store/eval/evals.ts';
import { readNeeds } from '../../store/eval/items.ts';
import { knows } from '../../store/run/find-agent-queues.ts';
import { findTakers } from '../../store/worker/find-takers.ts';

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
  const takers = await findTakers(all);
  if (!takers) return new Map();
  const needs = await readNeeds(
    db,
    waiting.map(({ id }) => id),
  );
  return new Map(
    waiting.map(({ id, queuePrefix, spec }) => {
      const ofQueue = takers.filter(({ queue }) => queuePrefix === null || queue === queuePrefix);
      const missing = needs.flatMap(({ evalId, agent, variant }) => {
        if (evalId !== id) return [];
        const version = spec.variants.find(({ name }) => name === variant)?.version;
        if (ofQueue.some((taker) => knows(taker, { agent, version }))) return [];
        return [version === undefined ? agent : `${agent}@${version}`];
      });
      return [id, [...new Set(missing)].sort()];
    }),
  );
}
