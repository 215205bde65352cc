import { isLanefoldError } from '../../base/errors.ts';
import { untilReachable } from '../../runs/streams/feed.ts';
import {
  readStream,
  type ReadPage,
  type StoredStream,
  type StreamRef,
  readTails,
} from '../../database/store/stream/streams.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { beyondTail, streamDeleted, streamNotFound, jsonType, type Page, type Readable } from './protocol.ts';
import { eventsBetween } from './trace.ts';
import { after, type Timer, onAbort } from '../../base/common/timer.ts';

/** A page has at least this much, if the stream has: whole appends, so that text is not cut within a character. */
const pageBytes = 262_144;

/** A stream that clients write. */
export class StoredReader implements Readable {
  constructor(
    private readonly db: Database,
    private readonly ref: StreamRef,
    private readonly tails: Tails,
  ) {}

  async head(): Promise<Page> {
    const { stream, next } = await this.#read(undefined, 0);
    return { ...toPage(stream, next, next), closed: stream.closed };
  }

  async read(from: number | undefined): Promise<Page> {
    const { stream, data, next } = await this.#read(from, pageBytes);
    if (stream.trace) {
      const { run_id: runId, from: first, upto } = stream.trace;
      const events = await eventsBetween(this.db, this.ref.threadId!, runId ?? undefined, first, upto);
      return toPage(stream, first, events.next, events.data);
    }
    const wrapped = data && stream.media_type === jsonType ? Buffer.concat([bracket.open, data, bracket.close]) : data;
    return toPage(stream, from ?? next, next, wrapped ?? undefined);
  }

  async changed(page: Page, signal: AbortSignal): Promise<void> {
    await this.tails.wait(Number(page.id), page.next, signal);
  }

  async *follow(page: Page, signal: AbortSignal): AsyncGenerator<Page, void, void> {
    let at = page;
    let shared: SharedReads | undefined;
    while (!at.closed && !signal.aborted) {
      if (at.upToDate) shared = await this.tails.wait(Number(at.id), at.next, signal);
      else shared = undefined;
      if (signal.aborted) return;
      const { next: from } = at;
      const read = () => untilReachable(() => this.read(from));
      let found: Page;
      try {
        found = await (shared ? shared.of(from, read) : read());
      } catch (error) {
        // deleted or expired: a client that reconnects is told
        if (isLanefoldError(error, 'stream_not_found') || isLanefoldError(error, 'stream_deleted')) return;
        throw error;
      }
      // another stream has the name now
      if (found.id !== page.id) return;
      if (found.next > from || found.closed) yield found;
      at = found;
    }
  }

  async #read(from: number | undefined, bytes: number) {
    const { stream, ...page } = await readStream(this.db, this.ref, from, bytes);
    if (stream.status === 'missing') throw streamNotFound(this.ref.name);
    if (stream.status === 'gone') throw streamDeleted(this.ref.name);
    if (stream.status === 'beyond') throw beyondTail();
    return { stream, ...page } satisfies ReadPage;
  }
}

const bracket = { open: Buffer.from('['), close: Buffer.from(']') };
const nothing = Buffer.alloc(0);

const toPage = (stream: StoredStream, from: number, next: number, data: Buffer = nothing): Page => ({
  id: String(stream.id),
  contentType: stream.content_type,
  mediaType: stream.media_type,
  data,
  from,
  next,
  upToDate: next >= stream.tail,
  closed: stream.closed && next >= stream.tail,
  ttlS: stream.ttl_s,
  endsAt: stream.ends_at,
});

/** How often the tails of streams with waiting readers are looked up, for appends that other processes make. */
const pollMs = 100;

/** The reads of readers that were woken together: those from the same position share one. */
class SharedReads {
  readonly #reads = new Map<number, Promise<Page>>();

  of(from: number, read: () => Promise<Page>): Promise<Page> {
    let reading = this.#reads.get(from);
    if (!reading) this.#reads.set(from, (reading = read()));
    return reading;
  }
}

interface Waiting {
  tail: number;
  wake: Set<(shared: SharedReads) => void>;
}

/**
 * Wakes readers that wait at the end of their streams: at once after an append of this process, and within 100 ms after one of
 * another. One statement at a time looks after all of them, and it pauses while no reader waits.
 */
export class Tails {
  readonly #waiting = new Map<number, Waiting>();
  #timer: Timer | undefined;

  constructor(private readonly db: Database) {}

  /** Resolves when the tail of the stream is no longer `tail`, or it may be closed or gone, or the signal aborts. */
  wait(id: number, tail: number, signal: AbortSignal): Promise<SharedReads> {
    if (signal.aborted) return Promise.resolve(new SharedReads());
    return new Promise((resolve) => {
      // readers that wait since before an append would otherwise wait for the next one
      if (tail > (this.#waiting.get(id)?.tail ?? tail)) this.changed(id);
      let waiting = this.#waiting.get(id);
      if (!waiting) this.#waiting.set(id, (waiting = { tail, wake: new Set() }));
      const behind = tail < waiting.tail;
      const woken = (shared: SharedReads) => {
        unlisten();
        waiting.wake.delete(woken);
        if (waiting.wake.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
        resolve(shared);
      };
      if (behind) return resolve(new SharedReads());
      waiting.wake.add(woken);
      const unlisten = onAbort(signal, () => woken(new SharedReads()));
      this.#schedule();
    });
  }

  /** Something was appended, or the stream was closed or deleted. */
  changed(id: number): void {
    const shared = new SharedReads();
    for (const woken of [...(this.#waiting.get(id)?.wake ?? [])]) woken(shared);
  }

  #schedule(): void {
    if (this.#timer || this.#waiting.size === 0) return;
    this.#timer = after(
      pollMs,
      () => {
        void this.#poll().finally(() => {
          this.#timer = undefined;
          this.#schedule();
        });
      },
      { ref: false },
    );
  }

  async #poll(): Promise<void> {
    const known = new Map(Array.from(this.#waiting, ([id, { tail }]) => [id, tail]));
    // the next poll may reach the database again
    const tails = await readTails(this.db, [...known.keys()]).catch(() => undefined);
    if (!tails) return;
    for (const [id, tail] of known) if (tails.get(id) !== tail) this.changed(id);
  }
}
