import { parseSse } from './parse-sse.ts';

export type Mode = 'catch-up' | 'long-poll' | 'sse';

/** What a reader has of a JSON stream, and where it continues. */
export interface Reading<T> {
  offset: string;
  items: T[];
  closed: boolean;
}

/**
 * Reads once. Takes only what came whole: a response that broke off within a page, or events without the control event that
 * follows, never happened. Returns whether the response came to its end.
 */
export async function readOnce<T>(url: string, mode: Mode, reading: Reading<T>): Promise<boolean> {
  const live = mode === 'catch-up' ? '' : `&live=${mode}`;
  try {
    const response = await fetch(`${url}?offset=${reading.offset}${live}`, { headers: { connection: 'close' } });
    if (mode === 'sse' && response.ok) return await readEvents(response, reading);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    if (text !== '') reading.items.push(...(JSON.parse(text) as T[]));
    reading.offset = response.headers.get('stream-next-offset')!;
    reading.closed = response.headers.get('stream-closed') === 'true';
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

async function readEvents<T>(response: Response, reading: Reading<T>): Promise<boolean> {
  let data: T[] = [];
  for await (const { event, data: text } of parseSse(response.body!)) {
    if (event === 'data') data = JSON.parse(text) as T[];
    if (event !== 'control') continue;
    const { streamNextOffset, streamClosed } = JSON.parse(text) as { streamNextOffset: string; streamClosed?: true };
    reading.items.push(...data);
    data = [];
    reading.offset = streamNextOffset;
    reading.closed = streamClosed === true;
  }
  return true;
}
