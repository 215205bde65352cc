import { liveCursor } from './live-cursor.ts';
import { jsonType } from './messages.ts';
import { toOffset } from './offset.ts';
import type { Page, Readable } from './page.ts';

const isText = (mediaType: string): boolean => mediaType.startsWith('text/') || mediaType === jsonType;

/** Tells clients how to read data that is no text. */
export const encodingHeaders = ({ mediaType }: Page): Record<string, string> =>
  isText(mediaType) ? {} : { 'Stream-SSE-Data-Encoding': 'base64' };

/** The server-sent events of a stream from a page on: data, each followed by a control event. */
export async function* toFrames(
  stream: Readable,
  first: Page,
  cursor: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  yield frame(first, cursor);
  for await (const page of stream.follow(first, signal)) yield frame(page, cursor);
}

/** A page as one piece of text, so that no client gets its data without its offset. */
function frame(page: Page, cursor: string | undefined): string {
  const { data, mediaType, next, upToDate, closed } = page;
  const control = {
    streamNextOffset: toOffset(next),
    ...(closed ? {} : { streamCursor: liveCursor(cursor) }),
    ...(upToDate ? { upToDate } : {}),
    ...(closed ? { streamClosed: true } : {}),
  };
  const text = data.toString(isText(mediaType) ? 'utf8' : 'base64');
  return `${data.byteLength > 0 ? event('data', text) : ''}${event('control', JSON.stringify(control))}`;
}

/** Line ends within data become lines of the event: they can forge no other field. */
const event = (name: string, data: string): string =>
  `event: ${name}\n${data
    .split(/\r\n|\r|\n/)
    .map((line) => (line.startsWith(' ') ? `data: ${line}\n` : `data:${line}\n`))
    .join('')}\n`;
