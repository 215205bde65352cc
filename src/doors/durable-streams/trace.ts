import type { RunEvent } from '../../database/store/trace/types.ts';
import { isLanefoldError } from '../../base/errors.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { findStreamStart } from '../../database/store/trace/find-stream-start.ts';
import { untilReachable } from '../../runs/streams/feed.ts';
import { beyondTail, jsonType, type Page, type Readable } from './protocol.ts';
import { onAbort } from '../../base/common/timer.ts';
import { snakeKeys } from '../../base/common/case.ts';
import { readRunEvents, readThreadEvents } from '../../database/store/trace/read-events.ts';

/** A client that reconnects is told. */
function unlessErased(error: unknown): undefined {
  if (!isLanefoldError(error, 'thread_erased')) throw error;
}

/** The trace of a thread, or of a run, whose stream closes with the run. Only workers write it. */
export class TraceReader implements Readable {
  constructor(
    private readonly lanefold: Pick<TenantLibrary, 'streams'>,
    private readonly db: Database,
    private readonly threadId: string,
    private readonly runId: string | undefined,
  ) {}

  async head(): Promise<Page> {
    const { tail, ended } = await this.#end();
    return this.#page(tail, tail, ended);
  }

  async read(from: number | undefined): Promise<Page> {
    // read before the events: a run that has ended has all of them by then
    const { tail, head, ended } = await this.#end();
    if (from === undefined) return this.#page(tail, tail, ended);
    if (from > head + 1) throw beyondTail();
    const events = await readEvents(this.db, this.threadId, this.runId, from);
    const upToDate = events.length < pageEvents;
    const next = (events.at(-1)?.eventSeq ?? -1) + 1;
    return {
      ...this.#page(from, upToDate ? Math.max(from, tail, next) : next, ended && upToDate),
      data: toJsonArray(events),
      upToDate,
    };
  }

  async changed({ next }: Page, signal: AbortSignal): Promise<void> {
    const left = new AbortController();
    const leave = () => left.abort();
    const unlisten = onAbort(signal, leave);
    try {
      const items = await this.#open(next, left.signal);
      for await (const item of items) if (item.type === 'event') return;
    } finally {
      leave();
      unlisten();
    }
  }

  async *follow(page: Page, signal: AbortSignal): AsyncGenerator<Page, void, void> {
    let at = page;
    while (!at.upToDate) {
      const { next } = at;
      at = await untilReachable(() => this.read(next));
      yield at;
    }
    if (at.closed || signal.aborted) return;
    let { next } = at;
    for await (const item of await this.#open(next, signal)) {
      if (item.type !== 'event') continue;
      const { event } = item;
      next = event.eventSeq + 1;
      yield { ...this.#page(event.eventSeq, next, false), data: toJsonArray([event]) };
    }
    // events may follow the one that ends a run: only now it is known that these were all
    const last = signal.aborted ? undefined : await untilReachable(() => this.read(next)).catch(unlessErased);
    if (last) yield last;
  }

  async #open(from: number, signal: AbortSignal) {
    const { items } = await this.lanefold.streams.open(this.threadId, this.runId, {
      after: from - 1,
      deltas: false,
      signal,
    });
    return items;
  }

  async #end(): Promise<{ tail: number; head: number; ended: boolean }> {
    const { first, head, last, ended } = await findStreamStart(this.db, this.threadId, this.runId);
    const tail = this.runId === undefined ? head + 1 : last === undefined ? first : last + 1;
    return { tail, head, ended: this.runId !== undefined && ended };
  }

  #page(from: number, next: number, closed: boolean): Page {
    return {
      id: 'trace',
      contentType: jsonType,
      mediaType: jsonType,
      data: Buffer.alloc(0),
      from,
      next,
      upToDate: true,
      closed,
      ttlS: null,
      endsAt: null,
    };
  }
}

/** Events of a page. */
const pageEvents = 200;

/** As the API returns it elsewhere. */
const eventJson = (event: RunEvent): string => JSON.stringify({ ...snakeKeys(event), at: event.at.toISOString() });

const toJsonArray = (events: readonly RunEvent[]): Buffer =>
  events.length === 0 ? Buffer.alloc(0) : Buffer.from(`[${events.map(eventJson).join(',')}]`);

/** Up to a page of events, of a run or of all runs of the thread; the position of an event is its `eventSeq`. */
const readEvents = (db: Database, threadId: string, runId: string | undefined, from: number): Promise<RunEvent[]> =>
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
