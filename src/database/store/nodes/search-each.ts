import pg from 'pg';
import { LanefoldError } from '../../../base/errors.ts';
import { isNodeUnreachable } from '../../postgres/errors.ts';
import type { NodeGuard } from '../../postgres/node-guard.ts';
import type { Database } from '../../postgres/pool.ts';
import { parseJson } from '../../../base/common/json.ts';

export interface Search {
  name: string;
  /** Reads tables, not views. */
  text: string;
  values: unknown[];
}

/**
 * Searches node by node, and leaves out those that are down. There a statement reads the shards of the node under the
 * names of their tables.
 */
export async function searchEach<Row>(db: Database, { nodes }: NodeGuard, asked: Search): Promise<Row[]> {
  const shards = await shardsOf(db, asked.text);
  const up = nodes.filter((node) => !node.isDown);
  const answers = await Promise.allSettled(
    up.map(async ({ name, host, port }): Promise<Row[]> => {
      const own = shards.filter((shard) => shard.node === name);
      if (own.length === 0) return [];
      const command = `select coalesce(json_agg(found), '[]') from (${onShards(asked, own)}) found`;
      const [answer] = await db.queryLong<{ success: boolean; result: string }>(
        'search_node',
        'select success, result from master_run_on_worker(array[$1::text], array[$2::int], array[$3::text], false)',
        [host, port, command],
      );
      if (!answer!.success) throw unsearched(name, answer!.result);
      return parseJson(answer!.result) as Row[];
    }),
  );
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  for (const answer of answers) {
    if (answer.status === 'rejected' && !isNodeUnreachable(answer.reason)) throw answer.reason;
  }
  return found;
}

const unsearched = (node: string, reason: string): LanefoldError =>
  new LanefoldError(
    /^failed to connect|connection|terminating|shutting down|starting up/.test(reason)
      ? 'database_unreachable'
      : 'database_error',
    `The node ${node} of the database was not searched: ${reason}.`,
    { hint: 'The other nodes were searched. Look at the log of this one.', details: { node } },
  );

/** A table's shards on one node. */
interface Shards {
  table: string;
  node: string;
  names: string[];
}

const tableNames = /\blanefold\.(_\w+)\b(?!\()/g;

async function shardsOf(db: Database, text: string): Promise<Shards[]> {
  const tables = [...new Set([...text.matchAll(tableNames)].map(([, name]) => name!))];
  return db.query<Shards & Record<string, unknown>>(
    'shards_of',
    `select c.relname as table, n.nodename || ':' || n.nodeport as node, array_agg(shard_name(s.logicalrelid, s.shardid)) as names
     from pg_dist_shard s join pg_class c on c.oid = s.logicalrelid join pg_namespace m on m.oid = c.relnamespace
     join pg_dist_partition d on d.logicalrelid = s.logicalrelid and d.partmethod = 'h'
     join pg_dist_placement p on p.shardid = s.shardid join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
     where m.nspname = 'lanefold' and c.relname = any ($1) group by 1, 2`,
    [tables],
  );
}

function onShards({ text, values }: Search, shards: readonly Shards[]): string {
  const tables = shards.map(
    ({ table, names }) => `${table} as not materialized (${names.map((name) => `table ${name}`).join(' union all ')})`,
  );
  const known = new Set(shards.map(({ table }) => table));
  const local = text.replaceAll(tableNames, (whole, table: string) => (known.has(table) ? table : whole));
  const statement = local.replaceAll(/\$(\d+)\b/g, (_, n) => literal(values[Number(n) - 1]));
  return `with ${tables.join(', ')}${/^\s*with\s/.test(statement) ? statement.replace(/^\s*with\s/, ', ') : ` ${statement}`}`;
}

/** A value of a type that PostgreSQL reads from where it stands, as that of a parameter. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(arrayItem).join(',')}}`);
  return pg.escapeLiteral(
    typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean),
  );
}

const arrayItem = (item: unknown): string =>
  item === null ? 'null' : `"${String(item).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
