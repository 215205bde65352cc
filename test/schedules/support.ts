import type { TestLanefold } from '../support/lanefold.ts';

/** As if nobody had looked at a schedule while it had `count` slots, the newest of them `agoMs` ago. It ends with them. */
export async function unseen(
  { database }: Pick<TestLanefold, 'database'>,
  name: string,
  { count, everyMs, agoMs, tenant = 'default' }: { count: number; everyMs: number; agoMs: number; tenant?: string },
): Promise<void> {
  const now = Date.now();
  const startAt = new Date(now - agoMs - (count - 1) * everyMs);
  const timing = { every_ms: everyMs, start_at: startAt.toISOString(), end_at: new Date(now).toISOString() };
  await database.pool.query(
    'update lanefold._schedule set timing = $3, next_at = $4 where tenant_id = $1 and name = $2',
    [...[tenant, name, timing, startAt]],
  );
  await database.pool.query("select pg_notify('lanefold_schedules', '')");
}
