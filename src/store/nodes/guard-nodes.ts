import { Guard } from '../../nodes/guard.ts';
import type { DatabaseNode, NodeGuard } from '../../postgres/node-guard.ts';
import type { Database } from '../../postgres/pool.ts';
import { askNode } from './ask-node.ts';
import { readPlacements } from './read-placements.ts';

/** Watches the nodes of a distributed database. Statements of all pools that share its settings go through the guard. */
export async function guardNodes(
  db: Database,
  url: string,
  onChange: (node: DatabaseNode) => void,
): Promise<NodeGuard> {
  const source = {
    readPlacements: () => readPlacements(db.pool),
    ask: (node: { host: string; port: number }) => askNode(url, node),
    onChange,
  };
  return new Guard(source, await source.readPlacements());
}
