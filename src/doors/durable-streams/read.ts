import { etagOf, pageHeaders, streamHeaders, type Answer } from './answer.ts';
import { liveCursor } from './live-cursor.ts';
import { jsonType } from './messages.ts';
import type { Page, Readable } from './page.ts';
import { after } from '../../base/common/timer.ts';
import { onAbort } from '../../base/common/on-abort.ts';

/** How long a long-poll waits for data. */
const waitMs = 20_000;

/** The end of a stream, and how long it is kept. */
export async function describe(stream: Readable): Promise<Answer> {
  const { next, closed, contentType, ttlS, endsAt } = await stream.head();
  const headers = {
    ...streamHeaders({ tail: next, closed }),
    ...{ 'Content-Type': contentType, 'Cache-Control': 'no-store' },
    ...(ttlS === null ? {} : { 'Stream-TTL': String(ttlS) }),
    ...(endsAt === null ? {} : { 'Stream-Expires-At': new Date(endsAt).toISOString() }),
  };
  return { status: 200, headers };
}

/** What there is from an offset, up to 4 MiB. @param ifNoneMatch the `ETag` of the client */
export async function catchUp(
  stream: Readable,
  from: number | undefined,
  ifNoneMatch: string | undefined,
): Promise<Answer> {
  const page = await readWhole(stream, from);
  if (from === undefined)
    return { status: 200, headers: { ...dataHeaders(page), 'Cache-Control': 'no-store' }, body: bodyOf(page) };
  const ETag = etagOf(page);
  if (ifNoneMatch === ETag) return { status: 304, headers: { ...pageHeaders(page), ETag } };
  return {
    status: 200,
    headers: { ...dataHeaders(page), 'Cache-Control': 'private, no-cache', ETag },
    body: bodyOf(page),
  };
}

/** Clients that do not follow a stream may ask once, and take the answer for all of it. */
const wholeBytes = 4 * 1024 * 1024;

async function readWhole(stream: Readable, from: number | undefined): Promise<Page> {
  const first = await stream.read(from);
  const parts = [first.data];
  let bytes = first.data.byteLength;
  let last = first;
  while (!last.upToDate && bytes < wholeBytes) {
    const page = await stream.read(last.next);
    // another stream has the name now, or what follows is gone
    if (page.id !== first.id || page.next <= last.next) break;
    parts.push(page.data);
    bytes += page.data.byteLength;
    last = page;
  }
  return { ...last, from: first.from, data: joined(parts, first.mediaType) };
}

/** Pages of JSON are arrays. */
function joined(parts: readonly Buffer[], mediaType: string): Buffer {
  const data = parts.filter(({ byteLength }) => byteLength > 0);
  if (data.length < 2) return data[0] ?? Buffer.alloc(0);
  if (mediaType !== jsonType) return Buffer.concat(data);
  const inside = data.flatMap((part, i) => [Buffer.from(i === 0 ? '[' : ','), part.subarray(1, -1)]);
  return Buffer.concat([...inside, Buffer.from(']')]);
}

/** As `catchUp`, but waits if there is nothing yet. */
export async function longPoll(
  stream: Readable,
  from: number | undefined,
  cursor: string | undefined,
  left: AbortSignal,
): Promise<Answer> {
  const first = await stream.read(from);
  const page = isEnd(first) ? await waitForMore(stream, first, left) : first;
  const live: Record<string, string> = page.closed ? {} : { 'Stream-Cursor': liveCursor(cursor) };
  const common = { ...live, 'Cache-Control': 'no-store' };
  if (page.data.byteLength === 0) return { status: 204, headers: { ...pageHeaders(page), ...common } };
  return { status: 200, headers: { ...dataHeaders(page), ...common, ETag: etagOf(page) }, body: page.data };
}

const isEnd = ({ data, upToDate, closed }: Page): boolean => data.byteLength === 0 && upToDate && !closed;

async function waitForMore(stream: Readable, page: Page, left: AbortSignal): Promise<Page> {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = after(waitMs, end);
  const unlisten = onAbort(left, end);
  try {
    let found = page;
    while (isEnd(found) && !over.signal.aborted) {
      await stream.changed(found, over.signal);
      found = await stream.read(page.next);
    }
    return found;
  } finally {
    timer.cancel();
    unlisten();
  }
}

const dataHeaders = (page: Page): Record<string, string> => ({
  ...pageHeaders(page),
  'Content-Type': page.contentType,
});

/** JSON without messages is an empty array. */
const bodyOf = ({ data, mediaType }: Page): Buffer =>
  mediaType === jsonType && data.byteLength === 0 ? Buffer.from('[]') : data;
