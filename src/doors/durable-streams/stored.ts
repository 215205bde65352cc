import { isLanefoldError } from '../../base/errors.ts';
import { untilReachable } from '../../runs/streams/feed.ts';
import { readStream, type ReadPage, type StoredStream, type StreamRef } from '../../database/store/stream/streams.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { beyondTail, streamDeleted, streamNotFound } from './errors.ts';
import { jsonType } from './messages.ts';
import type { Page, Readable } from './page.ts';
import type { SharedReads, Tails } from './tails.ts';
import { eventsBetween } from './trace-events.ts';

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
