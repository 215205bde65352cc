import pLimit from 'p-limit';
import { isNodeUnreachable } from '../postgres/errors.ts';
import type { Database } from '../postgres/pool.ts';

/** Limit on concurrent calls: maintenance of many threads leaves connections free for work on single threads. */
export const callsAtOnce = 4;

export type OfThread = { threadId: string } | { thread_id: string };

const threadOf = (item: OfThread): string => ('threadId' in item ? item.threadId : item.thread_id);

/** The items of each node; all together if the database has only one. */
export function byNode<Item extends OfThread>(db: Database, items: readonly Item[]): Map<string, Item[]> {
  const nodes = new Map<string, Item[]>();
  for (const item of items) {
    const node = db.settings.nodes?.nodeOf(threadOf(item)) ?? '';
    const some = nodes.get(node);
    if (some) some.push(item);
    else nodes.set(node, [item]);
  }
  return nodes;
}

/**
 * Calls `ask` for each of these items of one node, `atOnce` at a time, and passes on the answers. Once the node does not
 * answer, it is not asked for the others. Returns the first error.
 */
export async function askInTurn<Item>(
  items: readonly Item[],
  atOnce: number,
  ask: (item: Item) => Promise<void>,
): Promise<{ reason: unknown } | undefined> {
  const limit = pLimit(atOnce);
  let fault: { reason: unknown } | undefined;
  let isSilent = false;
  const askOne = async (item: Item) => {
    if (isSilent) return;
    try {
      await ask(item);
    } catch (reason) {
      fault ??= { reason };
      isSilent ||= isNodeUnreachable(reason);
    }
  };
  await Promise.all(items.map((item) => limit(askOne, item)));
  return fault;
}

/** How many calls each of `nodes` may have at once. */
export const callsPerNode = (nodes: number): number => Math.max(1, Math.floor(callsAtOnce / Math.max(1, nodes)));

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
  const answers = new Map<Item, Answer[]>();
  const nodes = [...byNode(db, items).values()];
  const atOnce = callsPerNode(nodes.length);
  const faults = await Promise.all(
    nodes.map((some) => askInTurn(some, atOnce, async (item) => void answers.set(item, await ask(item)))),
  );
  const fault = faults.find(Boolean);
  if (fault && answers.size === 0) throw fault.reason;
  return items.flatMap((item) => answers.get(item) ?? []);
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
