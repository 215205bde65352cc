import { isNodeUnreachable } from '../../postgres/errors.ts';
import type { Database } from '../../postgres/pool.ts';

export interface Search {
  name: string;
  /** Reads tables, not views. */
  text: string;
  values: unknown[];
}

/**
 * Searches the threads of all nodes. While a node of a distributed database is down, searches the others one by one, and
 * returns what they found: `limit` and aggregates then apply to each of them.
 *
 * @param query how all nodes are searched in one statement
 */
export async function search<Row>(db: Database, query: 'query' | 'queryLong', asked: Search): Promise<Row[]> {
  const { nodes } = db.settings;
  const together = () => db[query]<Row>(asked.name, asked.text, asked.values);
  if (!nodes) return together();
  if (nodes.nodes.every((node) => !node.isDown)) {
    try {
      return await together();
    } catch (error) {
      if (!isNodeUnreachable(error)) throw error;
    }
  }
  const { searchEach } = await import('./search-each.ts');
  return searchEach<Row>(db, nodes, asked);
}
