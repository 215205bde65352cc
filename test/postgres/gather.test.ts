import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Gatherer } from '../../src/database/postgres/gather.ts';
import { deferred } from '../support/until.ts';

const limits = { items: 50, characters: 1_000_000, inFlight: 1 };

/** A gatherer whose batches wait until they are let go; items are numbers, answered with their double. */
function gatherer(own: Partial<typeof limits> = {}) {
  const batches: { items: unknown[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const gather = new Gatherer<unknown>(
    (text) => {
      const items = JSON.parse(text) as unknown[];
      const held = deferred();
      const failed = deferred<Error>();
      batches.push({ items, answer: () => held.resolve(), fail: (error) => failed.resolve(error) });
      return Promise.race([
        held.promise.then(() => items.map((item) => [item])),
        failed.promise.then((error) => Promise.reject(error)),
      ]);
    },
    { ...limits, ...own },
  );
  return { gather: { add: (item: unknown) => gather.add(JSON.stringify(item)) }, batches };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what came in one turn of the event loop leaves together, and what comes meanwhile leaves next', async () => {
  const { gather, batches } = gatherer();
  const first = [gather.add(1), gather.add(2)];
  await turn();
  const second = [gather.add(3), gather.add(4), gather.add(5)];
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([[1, 2]]);
  batches[0]!.answer();
  expect(await Promise.all(first)).toEqual([[1], [2]]);
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  batches[1]!.answer();
  expect(await Promise.all(second)).toEqual([[3], [4], [5]]);
});

test('the error of a batch is that of its items, and the next batch is another one', async () => {
  const { gather, batches } = gatherer();
  const failing = Promise.allSettled([gather.add(1), gather.add(2)]);
  await turn();
  const next = gather.add(3);
  batches[0]!.fail(new Error('gone'));
  expect((await failing).map((end) => end.status)).toEqual(['rejected', 'rejected']);
  await turn();
  batches[1]!.answer();
  expect(await next).toEqual([3]);
});

test('a batch is bounded by items and by characters; a longer item travels alone; the order is kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 40 }), async (items) => {
      const { gather, batches } = gatherer({ items: 5, characters: 40 });
      const answers = Promise.all(items.map((item) => gather.add(item)));
      for (let i = 0; batches.slice(0, i).flatMap((batch) => batch.items).length < items.length; i++) {
        while (batches.length <= i) await turn();
        batches[i]!.answer();
      }
      expect(await answers).toEqual(items.map((item) => [item]));
      expect(batches.flatMap((batch) => batch.items)).toEqual(items);
      for (const batch of batches) {
        expect(batch.items.length).toBeLessThanOrEqual(5);
        if (batch.items.length > 1)
          expect(batch.items.map((item) => JSON.stringify(item)).join('').length).toBeLessThanOrEqual(40);
      }
    }),
    { numRuns: 50 },
  );
});
