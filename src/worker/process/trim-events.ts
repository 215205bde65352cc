import type { Database } from '../../database/postgres/pool.ts';
import { queuesWithEvents, trimJobEvents } from '../../database/store/run/trim-job-events.ts';

/** Events kept of a queue, as BullMQ does by default. */
const keep = 10_000;
/**
 * Trims the events of a fleet's queues in PostgreSQL, at each call. BullMQ would begin each time with the first event, and
 * while a transaction keeps its snapshot, read the index entries of all that it has deleted since: after ten minutes, half
 * a second, several times a second, in the statements that add and end jobs. A trim begins where the last but one ended; one
 * in `wholeEvery` begins with the first event, to find those that were committed late.
 */
export function eventTrimmer(db: Database, prefix: string, wholeEvery = 1_000): () => Promise<void> {
  const ends = new Map<string, [number, number]>();
  let calls = 0;
  return async () => {
    if (++calls % wholeEvery === 0) ends.clear();
    for (const queue of await queuesWithEvents(db, prefix)) {
      const [above, last] = ends.get(queue) ?? [0, 0];
      const cut = await trimJobEvents(db, queue, { above, keep });
      if (cut !== undefined) ends.set(queue, [last, cut]);
    }
  };
}
