import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { applyEffects, type StateEffect } from '../../src/agent/context/state.ts';
import { anyJson } from './arbitraries.ts';
import { newThread, value, useLog } from './helpers.ts';
import { asks, results, sqlRun } from './sql-run.ts';
import { cases } from '../support/cases.ts';

const log = useLog();

// few keys, so that effects meet
const key = fc.constantFrom('a', 'b', '0', '', '__proto__', 'constructor', 'é');
const json = fc.oneof(
  anyJson,
  fc.letrec<{ node: JsonObject }>((tie) => ({
    node: fc.dictionary(key, fc.oneof(fc.integer(), fc.constant(null), fc.constant([{ a: 1 }]), tie('node')), {
      maxKeys: 3,
      depthIdentifier: 'state',
    }) as fc.Arbitrary<JsonObject>,
  })).node,
);
const object = json.filter(
  (item): item is JsonObject => typeof item === 'object' && item !== null && !Array.isArray(item),
);
const path = fc.array(key, { minLength: 1, maxLength: 4 });
const effect: fc.Arbitrary<StateEffect> = fc.oneof(
  fc.record({ op: fc.constant('set' as const), value: object }),
  fc.record({ op: fc.constant('replace' as const), value: object }),
  fc.record({ op: fc.constant('delete_keys' as const), keys: fc.array(key, { maxLength: 3 }) }),
  fc.record({ op: fc.constant('set_path' as const), path, value: json }),
  fc.record({ op: fc.constant('delete_path' as const), path }),
);
/** As JSON has it: no -0, and no prototypes. */
const plain = (item: unknown): unknown => JSON.parse(JSON.stringify(item));

test('the database and the library make the same state of the same effects', async () => {
  await fc.assert(
    fc.asyncProperty(object, fc.array(effect, { maxLength: 8 }), async (state, effects) => {
      const [start, list] = [plain(state) as JsonObject, plain(effects) as StateEffect[]];
      const before = JSON.stringify([start, list]);
      const text = await value<string>(
        log.db,
        'select lanefold._apply_effects($1::text::jsonb, $2::text::jsonb)::text',
        JSON.stringify(start),
        JSON.stringify(list),
      );
      expect(plain(applyEffects(start, list))).toEqual(JSON.parse(text));
      expect(JSON.stringify([start, list])).toBe(before);
    }),
    { numRuns: cases(40) },
  );
});

test('the state of a thread is, at every entry, what its log makes of nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(effect, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      async (rounds) => {
        const threadId = await newThread(log);
        const run = sqlRun(log.db, threadId, 'run');
        await run.enqueue();
        await run.claim();
        const states: [upto: number, JsonObject][] = [[0, {}]];
        for (const [i, effects] of (plain(rounds) as StateEffect[][]).entries()) {
          await run.commit(i * 2, asks(['a'], i + 1));
          await run.commit(i * 2 + 1, { ...results(['a'], i + 1), effects: effects as never });
          states.push([(await log.threads.get(threadId)).rev - 1, applyEffects(states.at(-1)![1], effects)]);
        }
        for (const [upto, state] of states) {
          const at = await value<string>(log.db, 'select lanefold.thread_state_at($1, $2)::text', threadId, upto);
          expect(JSON.parse(at)).toEqual(plain(state));
        }
        const head = await value<string>(log.db, 'select state::text from lanefold.thread where id = $1', threadId);
        expect(JSON.parse(head)).toEqual(plain(states.at(-1)![1]));
        await run.finish({ status: 'failed', reason: 'error' });
      },
    ),
    { numRuns: cases(5) },
  );
});

test.each<[string, JsonObject, StateEffect, JsonObject]>([
  ['set merges objects', { a: { b: 1 } }, { op: 'set', value: { a: { c: 2 } } }, { a: { b: 1, c: 2 } }],
  ['set replaces lists', { a: [1, 2] }, { op: 'set', value: { a: [3] } }, { a: [3] }],
  ['replace forgets the rest', { a: 1 }, { op: 'replace', value: { b: 2 } }, { b: 2 }],
  ['delete_keys passes over what is missing', { a: 1 }, { op: 'delete_keys', keys: ['a', 'x'] }, {}],
  ['set_path makes its way', {}, { op: 'set_path', path: ['a', 'b'], value: 1 }, { a: { b: 1 } }],
  [
    'set_path replaces a list in its way',
    { a: [1] },
    { op: 'set_path', path: ['a', '0'], value: 1 },
    { a: { '0': 1 } },
  ],
  ['delete_path leaves lists alone', { a: [1] }, { op: 'delete_path', path: ['a', '0'] }, { a: [1] }],
  ['delete_path passes over what is missing', { a: 1 }, { op: 'delete_path', path: ['x', 'y'] }, { a: 1 }],
])('%s', async (_, state, effect_, expected) => {
  expect(applyEffects(state, [effect_])).toEqual(expected);
  const found = value(log.db, 'select lanefold._apply_effects($1, $2)', state, JSON.stringify([effect_]));
  expect(await found).toEqual(expected);
});

test('a run that ends without its machine keeps the effects of the outcomes it had stored', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a', 'b', 'c']));
  const outcome = (n: number) => ({ content: `${n}`, effects: [{ op: 'set', value: { last: n, [`n${n}`]: true } }] });
  await run.record(1, 2, { status: 'ok', attempts: 1, outcome: outcome(2) as never });
  await run.record(1, 0, { status: 'ok', attempts: 1, outcome: outcome(0) as never });
  await run.finish({ status: 'failed', reason: 'error', error: { type: 'x', message: 'y' } });
  expect((await log.threads.get(threadId)).state).toEqual({ last: 2, n0: true, n2: true });
  expect((await log.threads.entries(threadId)).map((entry) => entry.role ?? entry.kind)).toEqual([
    'user',
    'assistant',
    'tool',
    'tool',
    'tool',
    'ai_state_change',
  ]);
});
