import pLimit from 'p-limit';
import { isLanefoldError } from '../errors.ts';
import { isConnectionError } from '../postgres/errors.ts';
import type { Database } from '../postgres/pool.ts';

/** Limit on concurrent calls: maintenance of many threads leaves connections free for work on single threads. */
export const callsAtOnce = 4;

type OfThread = { threadId: string } | { thread_id: string };

const threadOf = (item: OfThread): string => ('threadId' in item ? item.threadId : item.thread_id);

/**
 * Calls `ask` for each item, which concerns one thread. For distributed databases, where one statement over many
 * threads would lock several nodes. Leaves out a thread whose node does not answer; rejects if none answers. Nodes do
 * not wait for each other, and one that stops answering is not asked for its other threads.
 */
export async function eachThread<Item extends OfThread, Answer>(
  db: Database,
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const nodes = new Map<string, number[]>();
  for (const [place, item] of items.entries()) {
    const node = db.settings.nodes?.nodeOf(threadOf(item)) ?? '';
    const places = nodes.get(node);
    if (places) places.push(place);
    else nodes.set(node, [place]);
  }
  const atOnce = Math.max(1, Math.floor(callsAtOnce / Math.max(1, nodes.size)));
  const answers: Answer[][] = [];
  let fault: { reason: unknown } | undefined;
  const askNode = async (places: readonly number[]) => {
    const limit = pLimit(atOnce);
    let isSilent = false;
    const askOne = async (place: number) => {
      if (isSilent) return;
      try {
        answers[place] = await ask(items[place]!);
      } catch (reason) {
        fault ??= { reason };
        isSilent ||= isConnectionError(reason) || isLanefoldError(reason, 'database_timeout');
      }
    };
    await Promise.all(places.map((place) => limit(askOne, place)));
  };
  await Promise.all([...nodes.values()].map(askNode));
  if (fault && !answers.some(Boolean)) throw fault.reason;
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
export const overThreads = <Item extends OfThread, Answer>(
  db: Database,
  items: readonly Item[],
  { together, one }: { together: () => Promise<Answer[]>; one: (item: Item) => Promise<Answer[]> },
): Promise<Answer[]> => (db.settings.distributed ? eachThread(db, items, one) : together());

/** Notifies all listeners of a distributed database: a function would reach only sessions of the node it runs on. */
export async function notifyFromHere(db: Database, channel: string, payload: string): Promise<void> {
  if (!db.settings.distributed) return;
  await db.query('notify', 'select pg_notify($1, $2)', [channel, payload]).catch(() => {});
}
