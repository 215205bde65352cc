import { asLine } from '../../base/common/json.ts';
import { liveCursor } from './live-cursor.ts';
import { jsonType } from './messages.ts';
import { toOffset } from './offset.ts';
import type { Page, Readable } from './page.ts';

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
