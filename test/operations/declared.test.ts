import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkBody, checked } from '../../src/base/operations/checked.ts';
import { noun } from '../../src/base/operations/operation.ts';
import { date, Id, jsonObject, orNull, whole } from '../../src/base/operations/schemas.ts';
import { fromWire, toWire } from '../../src/base/operations/wire.ts';
import { wireSchema } from '../../src/server/declared/wire-schema.ts';

const Part = z.union([
  z.object({ kind: z.literal('now'), startAt: date('When.') }),
  z.object({ kind: z.literal('later'), inMs: z.int() }),
]);
const Thing = z.strictObject({
  name: Id,
  startAt: orNull(date('When it starts.')),
  maxRuns: whole(1, 10).optional(),
  share: z.number().gt(0).max(1).optional(),
  toolContext: jsonObject('Of the caller.'),
  parts: z.array(Part),
  byAgent: z.record(z.string(), z.object({ lastSeen: date('When.') })),
});

const key = fc.constantFrom('oneKey', 'one_key', 'kind', 'startAt');
const when = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
const thing = fc.record(
  {
    name: fc.constant('a'),
    startAt: fc.option(when),
    maxRuns: fc.integer({ min: 1, max: 10 }),
    toolContext: fc.dictionary(key, fc.oneof(fc.string(), fc.dictionary(key, fc.integer()))),
    parts: fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('now' as const), startAt: when }),
        fc.record({ kind: fc.constant('later' as const), inMs: fc.integer() }),
      ),
    ),
    byAgent: fc.dictionary(key, fc.record({ lastSeen: when })),
  },
  { requiredKeys: ['name', 'startAt', 'toolContext', 'parts', 'byAgent'] },
);

describe('a declared value', () => {
  test('goes over the wire and comes back; keys of users stay', () => {
    const overWire = wireSchema(Thing);
    fc.assert(
      fc.property(thing, (value) => {
        const sent: unknown = JSON.parse(JSON.stringify(toWire(Thing, value)));
        expect(overWire.parse(sent)).toEqual(sent);
        const { tool_context: context, by_agent: byAgent } = sent as Record<string, object>;
        expect(context).toEqual(value.toolContext);
        expect(Object.keys(byAgent!)).toEqual(Object.keys(value.byAgent));
        expect(fromWire(Thing, sent)).toEqual(value);
      }),
    );
  });

  test('leaves behind what is not declared', () => {
    expect(toWire(z.object({ runId: Id }), { runId: 'r', secretKey: 'x' })).toEqual({ run_id: 'r' });
  });

  test('has a time that can be read', () => {
    const given = { name: 'a', tool_context: {}, parts: [], by_agent: {} };
    expect(wireSchema(Thing).safeParse({ ...given, start_at: 'soon' }).success).toBe(false);
    expect(wireSchema(Thing).safeParse({ ...given, start_at: '2026-11-21T10:15:30Z' }).success).toBe(true);
  });
});

describe('a declared method', () => {
  const things = noun('things', 'Things', {
    set: {
      id: 'setThing',
      route: 'PUT /v1/things/{name}',
      summary: 'Set a thing',
      query: { tenant: Id.optional(), limit: whole(1, 5).optional() },
      body: Thing,
      answer: { description: 'Done.' },
    },
  });
  const good = { name: 'a', startAt: null, toolContext: {}, parts: [], byAgent: {} };
  const calls: unknown[][] = [];
  const { set } = checked(things, {
    set: (...args: unknown[]) => {
      calls.push(args);
      return Promise.resolve();
    },
  });

  test.each<[problem: string, definition: object, field: string]>([
    ['maxRuns must be a whole number from 1 to 10.', { ...good, maxRuns: 11 }, 'maxRuns'],
    ['share must be a number above 0 and up to 1.', { ...good, share: 0 }, 'share'],
    ['parts must be a list.', { ...good, parts: 'x' }, 'parts'],
    ['toolContext must be an object.', { ...good, toolContext: [] }, 'toolContext'],
    ['byAgent.a.lastSeen must be a Date.', { ...good, byAgent: { a: { lastSeen: 'x' } } }, 'byAgent.a.lastSeen'],
    ['definition must be an object.', [], 'definition'],
  ])('says that %s', (message, definition, field) => {
    expect(() => checkBody('things.set', things.operations.set, definition)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message,
        details: expect.objectContaining({ field }) as object,
      }),
    );
  });

  test('refuses what it does not take before its function runs, with what was meant', async () => {
    await expect(set('a', { ...good, maxRun: 1 })).rejects.toMatchObject({ hint: 'Did you mean "maxRuns"?' });
    await expect(set('a', good, { tenants: 'x' })).rejects.toMatchObject({
      message: 'things.set does not take "tenants".',
    });
    await expect(set('a', good, { limit: 6 })).rejects.toMatchObject({
      message: 'limit must be a whole number from 1 to 5.',
    });
    await expect(set('a', good, { tenant: 'a b' })).rejects.toMatchObject({ code: 'invalid_id' });
    expect(calls).toEqual([]);
    await set('a', good, { tenant: 'acme', limit: undefined });
    expect(calls).toEqual([['a', good, { tenant: 'acme', limit: undefined }]]);
  });
});
