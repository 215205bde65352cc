import type { StoredStream } from '../../database/store/stream/streams.ts';
import { toOffset } from './offset.ts';
import type { Page } from './page.ts';

/** A response. */
export interface Answer {
  status: 200 | 201 | 204 | 304;
  headers: Record<string, string>;
  body?: Buffer;
}

/** What every response about a stream says of its end. */
export const streamHeaders = ({ tail, closed }: Pick<StoredStream, 'tail' | 'closed'>): Record<string, string> => ({
  'Stream-Next-Offset': toOffset(tail),
  ...(closed ? { 'Stream-Closed': 'true' } : {}),
});

export const pageHeaders = ({ next, upToDate, closed }: Page): Record<string, string> => ({
  ...streamHeaders({ tail: next, closed }),
  ...(upToDate ? { 'Stream-Up-To-Date': 'true' } : {}),
});

/** Changes with everything that the response says, also when the stream is closed without data. */
export const etagOf = ({ id, from, next, upToDate, closed }: Page): string =>
  `"${id}:${from}:${next}${upToDate ? ':u' : ''}${closed ? ':c' : ''}"`;
