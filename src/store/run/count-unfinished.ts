import type { Database } from '../../postgres/pool.ts';
import { tenantIs } from '../tenant/tenant-is.ts';

/** How many runs have not ended of those that a caller started, or of a tenant. */
export async function countUnfinished(db: Database, of: { caller: string } | { tenant: string }): Promise<number> {
  const [name, condition, value] =
    'caller' in of ? ['caller', 'caller = $1', of.caller] : ['tenant_id', tenantIs(db, '$1'), of.tenant];
  const [row] = await db.query<{ runs: number }>(
    `count_unfinished_${name}`,
    `select count(*)::int as runs from lanefold._run where finished_at is null and ${condition}`,
    [value],
  );
  return row!.runs;
}
