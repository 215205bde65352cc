import type { Placements, Shard } from '../../nodes/placements.ts';
import type { Database } from '../../postgres/pool.ts';

/** Where the threads of a distributed database are. Only the coordinator is asked. */
export async function readPlacements(db: Database): Promise<Placements> {
  const shards = await db.query<Shard & Record<string, unknown>>(
    'shards',
    `select s.shardmaxvalue::int as "upTo", n.nodename as host, n.nodeport as port
     from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
     join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
     where s.logicalrelid = to_regclass('lanefold.thread') order by 1`,
  );
  const relations = await db.query<{ name: string }>(
    'distributed_relations',
    `with recursive distributed as (
       select logicalrelid::oid as oid from pg_dist_partition where partmethod = 'h'
       union
       select r.ev_class from distributed t
       join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid and d.classid = 'pg_rewrite'::regclass
       join pg_rewrite r on r.oid = d.objid)
     select c.relname as name from distributed t join pg_class c on c.oid = t.oid
     join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'lanefold'`,
  );
  const functions = await db.query<{ name: string }>(
    'distributed_functions',
    `select distinct p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = 'lanefold' and p.proargnames[1] = 'p_thread_id'`,
  );
  const names = (rows: readonly { name: string }[]) => new Set(rows.map(({ name }) => name));
  return { shards, relations: names(relations), functions: names(functions) };
}
