/** Executes `count` tasks, `concurrency` at a time. Returns the results in order. */
export async function inTurn<Result>(
  count: number,
  concurrency: number,
  work: (i: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) {
        const i = next++;
        results[i] = await work(i);
      }
    }),
  );
  return results;
}
