import type pg from 'pg';

/** Distributed functions that have the setting and should not, or should and do not. */
const findOthers = `
  select p.oid::regprocedure::text as name
  from pg_proc p join pg_dist_object o on o.classid = 'pg_proc'::regclass and o.objid = p.oid
  where p.pronamespace = 'lanefold'::regnamespace and o.distribution_argument_index is not null
    and coalesce(p.proconfig @> '{plan_cache_mode=force_custom_plan}', false) <> $1`;

/**
 * Makes Citus nodes replan the statements of distributed functions on every execution, on versions whose plan cache
 * leaks: there, each call caches a plan of 150 kB that is never used again. On other versions it removes the setting,
 * because cached plans are faster. Returns whether it changed anything.
 */
export async function planOnNodes(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ version: string }>('select citus_version() as version');
  const eachTime = keepsEveryPlan(rows[0]!.version);
  const change = eachTime ? 'set plan_cache_mode = force_custom_plan' : 'reset plan_cache_mode';
  const others = (await client.query<{ name: string }>(findOthers, [eachTime])).rows;
  for (const { name } of others) await client.query(`alter function ${name} ${change}`);
  return others.length > 0;
}

/**
 * Whether Citus has the fault: from 13.2.1 (citusdata/citus#8371) to 14.0.1, without the fix (citusdata/citus#8824).
 *
 * @param version as `citus_version()` has it: `Citus 13.2.2 on …`
 */
export function keepsEveryPlan(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = (/(?<!\d)(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [])
    .slice(1)
    .map(Number);
  const number = (major * 100 + minor) * 100 + (patch || 0);
  return number >= 13_02_01 && number <= 14_00_01;
}
