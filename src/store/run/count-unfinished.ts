import type { Database } from '../../postgres/pool.ts';

/** How many runs have not ended of those that a caller started, or of a tenant. */
export async function countUnfinished(db: Database, of: { caller: string } | { tenant: string }): Promise<number> {
  const [column, value] = 'caller' in of ? ['caller', of.caller] : ['tenant_id', of.tenant];
  const [row] = await db.query<{ runs: number }>(
    `count_unfinished_${column}`,
    `select count(*)::int as runs from lanefold._run where finished_at is null and ${column} = $1`,
    [value],
  );
  return row!.runs;
}
