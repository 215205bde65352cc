import type { Database } from '../../postgres/pool.ts';
import type { Search } from './search-each.ts';

/**
 * Searches the threads of all nodes. While a node of a distributed database is down, searches the others one by one, and
 * returns what they found: `limit` and aggregates then apply to each of them. Rejects if a node goes down meanwhile, so that
 * the caller does not count the wait as its own work.
 *
 * @param query how all nodes are searched in one statement
 */
export async function search<Row>(db: Database, query: 'query' | 'queryLong', asked: Search): Promise<Row[]> {
  const { nodes } = db.settings;
  if (!nodes?.nodes.some((node) => node.isDown)) return db[query]<Row>(asked.name, asked.text, asked.values);
  const { searchEach } = await import('./search-each.ts');
  return searchEach<Row>(db, nodes, asked);
}
