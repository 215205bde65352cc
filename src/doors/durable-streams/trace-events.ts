import { snakeKeys } from '../../base/common/case.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readRunEvents, readThreadEvents, type RunEvent } from '../../database/store/trace/read-events.ts';

/** Events of a page. */
export const pageEvents = 200;

/** As the API returns it elsewhere. */
const eventJson = (event: RunEvent): string => JSON.stringify({ ...snakeKeys(event), at: event.at.toISOString() });

export const toJsonArray = (events: readonly RunEvent[]): Buffer =>
  events.length === 0 ? Buffer.alloc(0) : Buffer.from(`[${events.map(eventJson).join(',')}]`);

/** Up to a page of events, of a run or of all runs of the thread; the position of an event is its `eventSeq`. */
export const readEvents = (
  db: Database,
  threadId: string,
  runId: string | undefined,
  from: number,
): Promise<RunEvent[]> =>
  runId === undefined
    ? readThreadEvents(db, threadId, from - 1, pageEvents)
    : readRunEvents(db, threadId, runId, from - 1, pageEvents);

/** What a fork has of a trace: the events before `upto`. Those that retention has dropped are missing. */
export async function eventsBetween(
  db: Database,
  threadId: string,
  runId: string | undefined,
  from: number,
  upto: number,
): Promise<{ data: Buffer; next: number }> {
  const events = await readEvents(db, threadId, runId, from);
  const own = events.filter((event) => event.eventSeq < upto);
  const more = own.length === pageEvents;
  return { data: toJsonArray(own), next: more ? own.at(-1)!.eventSeq + 1 : upto };
}
