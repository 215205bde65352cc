export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof (value as { [Symbol.asyncIterator]?: unknown } | null | undefined)?.[Symbol.asyncIterator] === 'function';

/** The last value of a stream, `undefined` for an empty one. Stops, and closes the stream, once `signal` aborts. */
export async function lastValue(values: AsyncIterable<unknown>, signal: AbortSignal): Promise<unknown> {
  let last: unknown;
  for await (const value of values) {
    last = value;
    if (signal.aborted) break;
  }
  return last;
}
