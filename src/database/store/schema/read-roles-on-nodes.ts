import type pg from 'pg';

const allowed = `
  select from pg_proc where oid = 'lanefold._bound_tenant()'::regprocedure
    and proconfig @> '{citus.allow_nested_distributed_execution=on}'`;

/**
 * Lets the policies of Citus nodes read the tenant of a reader: each node has all of `_role`, but Citus takes a query on
 * it, within one on a shard, for a distributed one. Returns whether it changed anything.
 */
export async function readRolesOnNodes(client: pg.Client): Promise<boolean> {
  if ((await client.query(allowed)).rowCount) return false;
  await client.query('alter function lanefold._bound_tenant() set citus.allow_nested_distributed_execution = on');
  return true;
}
