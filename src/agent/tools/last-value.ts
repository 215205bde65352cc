export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof (value as { [Symbol.asyncIterator]?: unknown } | null | undefined)?.[Symbol.asyncIterator] === 'function';

/** The last value of an async iterable; `undefined` if it is empty. Closes the iterable when `signal` aborts. */
export async function lastValue(values: AsyncIterable<unknown>, signal: AbortSignal): Promise<unknown> {
  let last: unknown;
  for await (const value of values) {
    last = value;
    if (signal.aborted) break;
  }
  return last;
}
