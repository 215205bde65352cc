import { Guard } from '../../nodes/guard.ts';
import type { DatabaseNode, NodeGuard } from '../../postgres/node-guard.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Placements, Shard } from '../../nodes/placements.ts';
import type pg from 'pg';
import type { NodeAnswer } from '../../nodes/watched-node.ts';
import { QuietClient } from '../../postgres/watched-client.ts';
import { every } from '../../../base/common/timer.ts';
import { fromRows } from '../rows.ts';
import type { Search } from './search-each.ts';

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

/**
 * Where the threads of a distributed database are. Only the coordinator is asked, past the guard: the answer may be that
 * another server has taken the place of a node that is down.
 */
async function readPlacements(pool: pg.Pool): Promise<Placements> {
  const read = async <Row extends object>(text: string) => fromRows<Row>((await pool.query<object>(text)).rows);
  const shards = await read<Shard>(
    `select s.shardmaxvalue::int as up_to, n.nodename as host, n.nodeport as port
     from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
     join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
     where s.logicalrelid = to_regclass('lanefold.thread') order by 1`,
  );
  const relations = await read<{ name: string }>(
    `with recursive distributed as (
       select logicalrelid::oid as oid from pg_dist_partition where partmethod = 'h'
       union
       select r.ev_class from distributed t
       join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid and d.classid = 'pg_rewrite'::regclass
       join pg_rewrite r on r.oid = d.objid)
     select c.relname as name from distributed t join pg_class c on c.oid = t.oid
     join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'lanefold'`,
  );
  const functions = await read<{ name: string; everywhere: boolean }>(
    `select f.name, f.two_threads or f.writes_everywhere as everywhere from (
       select p.proname as name, bool_or(p.proargnames[1] = 'p_thread_id') as one_thread,
         bool_or('p_other_thread_id' = any (p.proargnames)) as two_threads,
         -- a reference table has a copy on every node
         bool_or(exists (select from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid
           where d.partmethod = 'n' and d.repmodel = 't'
             and p.prosrc ~ format('(insert into|update|delete from) lanefold\\.%s\\y', c.relname))) as writes_everywhere
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'lanefold' group by 1) f
     where f.one_thread or f.writes_everywhere`,
  );
  const delegated = await read<{ name: string }>(
    `select p.proname as name from pg_proc p join pg_dist_object o on o.classid = 'pg_proc'::regclass and o.objid = p.oid
     where p.pronamespace = 'lanefold'::regnamespace and o.distribution_argument_index is not null`,
  );
  const names = (rows: readonly { name: string }[]) => new Set(rows.map(({ name }) => name));
  return {
    shards,
    relations: names(relations),
    functions: names(functions.filter(({ everywhere }) => !everywhere)),
    everywhere: names(functions.filter(({ everywhere }) => everywhere)),
    delegated: names(delegated),
  };
}

/** How long the coordinator may take to connect to a node, in ms, and how long its answer may take. */
const connectMs = 7_000;
const answerMs = 8_000;
/** After a pause of this process, an answer may have come that it has not read. */
const busyMs = 500;

/**
 * Whether a node executes statements, refuses connections or says nothing; undefined if the coordinator does not answer,
 * or if this process was too busy to tell. Asks in a session that ends with the question: the coordinator's sessions keep
 * their connections to nodes, and one that waits for a frozen node cannot be cancelled.
 */
async function askNode(url: string, { host, port }: { host: string; port: number }): Promise<NodeAnswer | undefined> {
  const client = new QuietClient({
    connectionString: url,
    application_name: 'lanefold nodes',
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  let askedAt: number | undefined;
  const pauses = watchPauses();
  try {
    await client.connect();
    await client.query(`begin; set local citus.node_connection_timeout = ${connectMs}`);
    askedAt = performance.now();
    const { rows } = await client.query<{ success: boolean }>(
      "select success from master_run_on_worker(array[$1::text], array[$2::int], array['select 1'], false)",
      [host, port],
    );
    if (rows[0]?.success) return 'answers';
    // Citus does not say why it could not connect
    if (performance.now() - askedAt < connectMs) return 'refuses';
    return pauses.longest() > busyMs ? undefined : 'silent';
  } catch (error) {
    const isLate = askedAt !== undefined && /Query read timeout/.test((error as Error).message);
    return isLate && pauses.longest() <= busyMs ? 'silent' : undefined;
  } finally {
    pauses.stop();
    void client.end().catch(() => {});
  }
}

/** Measures how long this process does not get to its timers. */
function watchPauses(): { longest: () => number; stop: () => void } {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = every(busyMs / 5, look, { ref: false });
  return {
    longest: () => {
      look();
      return longest;
    },
    stop: () => timer.cancel(),
  };
}

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
