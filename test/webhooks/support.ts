import type { Lanefold, WebhookDelivery } from 'lanefold';
import type { TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

type Own = Pick<TestLanefold, 'database' | 'webhooks'>;

/** As if the pauses of all failed attempts were over. */
export async function passTime({ database }: Pick<TestLanefold, 'database'>): Promise<void> {
  await database.pool.query(
    "update lanefold._webhook_delivery set next_at = now() where status = 'pending' and next_at > now()",
  );
  await database.pool.query("select pg_notify('lanefold_webhooks', '')");
}

/** As if every attempt that has failed were due: until all deliveries of an endpoint are settled. */
export const settled = (lanefold: Own, name: string, count: number): Promise<WebhookDelivery[]> =>
  until(`${count} deliveries of ${name} are settled`, async () => {
    const all = await lanefold.webhooks.deliveries(name, { limit: 1_000 });
    const { pool } = lanefold.database;
    await pool.query(
      "update lanefold._webhook_delivery set next_at = now() where status = 'pending' and error is not null and next_at > now()",
    );
    return all.length >= count && all.every(({ settledAt }) => settledAt !== null) && all.reverse();
  });

/** A run of the agent `echo` that has ended. */
export async function endedRun(lanefold: Pick<Lanefold, 'runs'>, threadId?: string) {
  const run = await lanefold.runs.enqueue({
    agent: 'echo',
    input: 'hello',
    busy: 'wait',
    ...(threadId ? { threadId, createThread: true } : {}),
  });
  return lanefold.runs.wait(run);
}
