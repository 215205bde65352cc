import type { Database } from '../../../database/postgres/pool.ts';
import { eachThread } from '../../../database/store/each-thread.ts';

/** The arguments of one call: items of a thread. */
export interface ThreadItems {
  thread_id: string;
  items: ({ id: string } & Record<string, unknown>)[];
}

/** Groups what concerns the same thread. */
export function groupByThread<Given extends { thread_id: string }>(
  given: readonly Given[],
  itemOf: (one: Given) => ThreadItems['items'][number],
): ThreadItems[] {
  const threads = new Map<string, ThreadItems>();
  for (const one of given) {
    const thread = threads.get(one.thread_id) ?? { thread_id: one.thread_id, items: [] };
    thread.items.push(itemOf(one));
    threads.set(one.thread_id, thread);
  }
  return [...threads.values()];
}

/** What an answer says: the ids of the items that other transactions hold. */
interface Locked {
  thread_id: string;
  locked: string[];
}

/**
 * Calls a function for each thread in one statement, which waits for no other transaction; then alone, and waiting, for
 * what others hold. Calls each alone on a distributed database.
 *
 * @param together takes the threads as JSON, then the other values
 * @param one takes a thread id, its items, then the other values
 */
export async function writeThreads<Answer extends Locked>(
  db: Database,
  name: string,
  threads: readonly ThreadItems[],
  { together, one, values = [] }: { together: string; one: string; values?: unknown[] },
): Promise<Answer[]> {
  const alone = (some: readonly ThreadItems[]) =>
    eachThread<ThreadItems, Answer>(db, some, ({ thread_id, items }) =>
      db.query(`${name}_of`, one, [thread_id, JSON.stringify(items), ...values]),
    );
  if (threads.length === 0) return [];
  if (db.settings.distributed) return alone(threads);
  const answers = await db.query<Answer>(name, together, [JSON.stringify(threads), ...values]);
  const heldByOthers = new Map(answers.map(({ thread_id, locked }) => [thread_id, new Set(locked)]));
  const rest = threads
    .map(({ thread_id, items }) => ({
      thread_id,
      items: items.filter(({ id }) => heldByOthers.get(thread_id)!.has(id)),
    }))
    .filter(({ items }) => items.length > 0);
  return [...answers, ...(await alone(rest))];
}
