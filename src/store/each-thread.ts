import pLimit from 'p-limit';
import type { Database } from '../postgres/pool.ts';

/** Limit on concurrent calls: maintenance of many threads leaves connections free for work on single threads. */
export const callsAtOnce = 4;

/**
 * Calls `ask` for each item, which concerns one thread. For distributed databases, where one statement over many
 * threads would lock several nodes. Leaves out a thread whose node does not answer; rejects if none answers.
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

/** Like `eachThread`, but rejects if any thread's node does not answer: for answers that are wrong unless complete. */
export async function everyThread<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const limit = pLimit(callsAtOnce);
  return (await Promise.all(items.map((item) => limit(() => ask(item))))).flat();
}

/**
 * Calls that concern many threads: `together` is one statement for all of them; a distributed database gets one call
 * for each instead, as `eachThread` sends them.
 */
export const overThreads = <Item, Answer>(
  db: Database,
  items: readonly Item[],
  { together, one }: { together: () => Promise<Answer[]>; one: (item: Item) => Promise<Answer[]> },
): Promise<Answer[]> => (db.settings.distributed ? eachThread(items, one) : together());

/** Notifies all listeners of a distributed database: a function would reach only sessions of the node it runs on. */
export async function notifyFromHere(db: Database, channel: string, payload: string): Promise<void> {
  if (!db.settings.distributed) return;
  await db.query('notify', 'select pg_notify($1, $2)', [channel, payload]).catch(() => {});
}
