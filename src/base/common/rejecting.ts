/** The items of a source that ends when `signal` aborts; then rejects with its reason, as other calls with a signal do. */
export async function* rejecting<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  yield* items;
  signal?.throwIfAborted();
}
