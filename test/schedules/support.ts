import type { TestLanefold } from '../support/lanefold.ts';

/** As if nobody had looked at a schedule while it had `count` slots, the newest of them `agoMs` ago. It ends with them. */
export async function unseen(
  { database }: Pick<TestLanefold, 'database'>,
  name: string,
  {
    count,
    everyMs,
    tenant = 'default',
    ...last
  }: { count: number; everyMs: number; tenant?: string } & ({ agoMs: number } | { lastAt: number }),
): Promise<void> {
  const now = Date.now();
  const lastAt = 'lastAt' in last ? last.lastAt : now - last.agoMs;
  const startAt = new Date(lastAt - (count - 1) * everyMs);
  const timing = { every_ms: everyMs, start_at: startAt.toISOString(), end_at: new Date(now).toISOString() };
  await database.pool.query(
    'update lanefold._schedule set timing = $3, next_at = $4 where tenant_id = $1 and name = $2',
    [tenant, name, timing, startAt],
  );
  await database.pool.query("select pg_notify('lanefold_schedules', '')");
}
