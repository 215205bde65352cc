import {
  etagOf,
  pageHeaders,
  streamHeaders,
  type Answer,
  liveCursor,
  jsonType,
  type Page,
  type Readable,
  toOffset,
} from './protocol.ts';
import { after, onAbort } from '../../base/common/timer.ts';
import { asLine } from '../../base/common/json.ts';

/** How long a long-poll waits for data. */
const waitMs = 20_000;

/** The end of a stream, and how long it is kept. */
export async function describe(stream: Readable): Promise<Answer> {
  const { next, closed, contentType, ttlS, endsAt } = await stream.head();
  const headers = {
    ...streamHeaders({ tail: next, closed }),
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
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

const isText = (mediaType: string): boolean => mediaType.startsWith('text/') || mediaType === jsonType;

/** Tells clients how to read data that is not text. */
export const encodingHeaders = ({ mediaType }: Page): Record<string, string> =>
  isText(mediaType) ? {} : { 'Stream-SSE-Data-Encoding': 'base64' };

/** The server-sent events of a stream from a page on: data, each followed by a control event. */
export async function* toFrames(
  stream: Readable,
  first: Page,
  cursor: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  let [page, rest] = wholeText(first, nothing);
  yield frame(page, cursor);
  for await (const found of stream.follow(first, signal)) {
    [page, rest] = wholeText(found, rest);
    yield frame(page, cursor);
  }
}

const nothing = Buffer.alloc(0);

/**
 * The page after `before`, up to its last whole character if it is text, and the bytes that it leaves for the next one: an
 * append may end within a character. A closed stream leaves nothing.
 */
function wholeText(page: Page, before: Buffer): [Page, Buffer] {
  if (!page.mediaType.startsWith('text/')) return [page, nothing];
  const all = before.byteLength === 0 ? page.data : Buffer.concat([before, page.data]);
  const end = page.closed ? all.byteLength : wholeEnd(all);
  const rest = all.subarray(end);
  return [{ ...page, data: all.subarray(0, end), next: page.next - rest.byteLength }, rest];
}

/** Where the last character of UTF-8 that is not whole begins; the end if it is whole, or the bytes are no UTF-8. */
function wholeEnd(text: Buffer): number {
  for (let back = 1; back <= Math.min(3, text.byteLength); back++) {
    const byte = text[text.byteLength - back]!;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const length = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte <= 0xf4 && length > back ? text.byteLength - back : text.byteLength;
  }
  return text.byteLength;
}

/** A page as one piece of text, so that no client gets its data without its offset. */
export function frame(page: Page, cursor: string | undefined): string {
  const { data, mediaType, next, upToDate, closed } = page;
  const control = {
    streamNextOffset: toOffset(next),
    ...(closed ? {} : { streamCursor: liveCursor(cursor) }),
    ...(upToDate ? { upToDate } : {}),
    ...(closed ? { streamClosed: true } : {}),
  };
  const given = data.toString(isText(mediaType) ? 'utf8' : 'base64');
  const text = mediaType === jsonType ? asLine(given) : given;
  return `${data.byteLength > 0 ? event('data', text) : ''}${event('control', JSON.stringify(control))}`;
}

/** Line ends within data become lines of the event: they can forge no other field. */
const event = (name: string, data: string): string =>
  `event: ${name}\n${data
    .split(/\r\n|\r|\n/)
    .map((line) => (line.startsWith(' ') ? `data: ${line}\n` : `data:${line}\n`))
    .join('')}\n`;
