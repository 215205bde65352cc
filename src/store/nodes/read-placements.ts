import type { Placements, Shard } from '../../nodes/placements.ts';
import type pg from 'pg';

/**
 * Where the threads of a distributed database are. Only the coordinator is asked, past the guard: the answer may be that
 * another server has taken the place of a node that is down.
 */
export async function readPlacements(pool: pg.Pool): Promise<Placements> {
  const read = async <Row extends object>(text: string) => (await pool.query<Row>(text)).rows;
  const shards = await read<Shard>(
    `select s.shardmaxvalue::int as "upTo", n.nodename as host, n.nodeport as port
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
  const names = (rows: readonly { name: string }[]) => new Set(rows.map(({ name }) => name));
  return {
    ...{ shards, relations: names(relations) },
    functions: names(functions.filter(({ everywhere }) => !everywhere)),
    everywhere: names(functions.filter(({ everywhere }) => everywhere)),
  };
}
