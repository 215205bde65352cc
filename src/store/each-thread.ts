import pLimit from 'p-limit';
import type { Database } from '../postgres/pool.ts';

/** Calls under way at once: what looks after many threads leaves connections to what works on one. */
export const callsAtOnce = 4;

/**
 * Calls `ask` for each item, which is about one thread: on a distributed database, where one statement over threads would
 * lock several nodes. A thread whose node does not answer is left out; rejects if none answers.
 */
export async function eachThread<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const limit = pLimit(callsAtOnce);
  const settled = await Promise.allSettled(items.map((item) => limit(() => ask(item))));
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [first] = settled;
  if (answers.length === 0 && first?.status === 'rejected') throw first.reason;
  return answers.flat();
}

/** Tells everybody who listens, where a function cannot: it would notify the sessions of the node that executes it. */
export async function notifyFromHere(db: Database, channel: string, payload: string): Promise<void> {
  if (!db.settings.distributed) return;
  await db.query('notify', 'select pg_notify($1, $2)', [channel, payload]).catch(() => {});
}
