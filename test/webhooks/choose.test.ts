import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseAttempts } from '../../src/features/webhooks/worker/deliver.ts';
import type { OpenEndpoint, WaitingEvent } from '../../src/features/webhooks/store/due-deliveries.ts';

const ids = ['a', 'b', 'c', 'd', 'e'];

const endpoint = (id: string): fc.Arbitrary<OpenEndpoint> =>
  fc.record({ failing: fc.boolean(), most: fc.nat(10), waiting: fc.nat(10) }).map(({ failing, most, waiting }) => {
    const free = failing ? Math.min(most, 1) : most;
    const due = Array.from({ length: Math.min(waiting, free) }, (_, n) => ({
      thread_id: `old-${n}`,
      id: `${id}-${n}`,
      attempt: 1,
      since: n,
    }));
    return { id, failing, free, due };
  });
/** Some are missing: they are paused or removed. */
const endpoints = fc
  .subarray(ids)
  .chain((some) => fc.tuple(...some.map(endpoint)))
  .map((found): OpenEndpoint[] => found);
const events = fc.array(fc.subarray(ids, { minLength: 1 }), { maxLength: 20 }).map((all): WaitingEvent[] =>
  all.map((webhook_ids, n) => ({
    thread_id: `new-${n}`,
    type: 'run.completed',
    key: 'k',
    webhook_ids,
    created_at: new Date(0),
  })),
);

test('of an endpoint no more begins than is free, what is due first', () => {
  fc.assert(
    fc.property(endpoints, events, fc.integer({ min: 1, max: 40 }), (open, waiting, slots) => {
      const { due, events: chosen } = chooseAttempts(open, waiting, slots);
      for (const id of ids) {
        const own = open.find((one) => one.id === id);
        const begun = chosen.filter(({ begin }) => begin.includes(id)).length;
        const next = due.filter((one) => one.id.startsWith(`${id}-`));
        expect(next.map((one) => one.id)).toEqual((own?.due ?? []).slice(0, next.length).map((one) => one.id));
        expect(begun).toBeLessThanOrEqual(!own || own.failing ? 0 : own.free - own.due.length);
      }
      for (const { begin, webhook_ids } of chosen) expect(webhook_ids).toEqual(expect.arrayContaining(begin));
    }),
  );
});

test('events and due attempts each get half of the slots at least, if they want them, and together hardly more than all', () => {
  fc.assert(
    fc.property(endpoints, events, fc.integer({ min: 1, max: 40 }), (open, waiting, slots) => {
      const { due, events: chosen, moreDue, moreEvents } = chooseAttempts(open, waiting, slots);
      const wanted = open.flatMap((one) => one.due).length;
      const begun = chosen.flatMap(({ begin }) => begin).length;
      expect(due.length).toBeGreaterThanOrEqual(Math.min(wanted, Math.ceil(slots / 2)));
      expect(due.length + begun).toBeLessThan(slots + ids.length);
      expect(moreDue).toBe(due.length < wanted);
      expect(moreEvents).toBe(chosen.length < waiting.length);
      // what is left waits for slots, and for nothing else
      if (moreDue || moreEvents) expect(due.length + begun).toBeGreaterThanOrEqual(slots);
      if (moreEvents) expect(begun).toBeGreaterThanOrEqual(Math.floor(slots / 2));
      expect(chosen.map(({ thread_id }) => thread_id)).toEqual(
        waiting.slice(0, chosen.length).map(({ thread_id }) => thread_id),
      );
    }),
  );
});
