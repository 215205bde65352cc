// @module-tag slow
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assertStorable, cleanJson, cleanText, findFlaw, isStorable } from '../../src/base/checks/values.ts';
import { openLog, value, type TestLog } from './helpers.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog()));
afterAll(() => log.drop());

/** Text with what PostgreSQL cannot store, often. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('\u0000', '\ud800', '\udfff', '\ud83d\ude00', '\\u0000', '\ufffd'),
    ),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));

const anyJson = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    anyText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('json'), { maxKeys: 3 }),
  ),
})).json;

const stored = async (json: unknown): Promise<{ back: unknown } | 'refused'> => {
  try {
    return { back: await value(log.db, 'select $1::jsonb', JSON.stringify(json)) };
  } catch {
    return 'refused';
  }
};

test('what we call storable is exactly what the database takes and gives back unchanged', async () => {
  let refusals = 0;
  await fc.assert(
    fc.asyncProperty(anyJson, async (json) => {
      const answer = await stored(json);
      if (findFlaw(json) === undefined) {
        expect(answer).toEqual({ back: json });
        expect(() => assertStorable(json, 'It')).not.toThrow();
      } else {
        refusals++;
        expect(answer).toBe('refused');
        expect(() => assertStorable(json, 'It')).toThrow(expect.objectContaining({ code: 'invalid_text' }));
      }
    }),
    { numRuns: 300 },
  );
  expect(refusals).toBeGreaterThan(10);
});

test('cleaned text can be stored, is as long as before, and clean text stays the same object', async () => {
  await fc.assert(
    fc.asyncProperty(anyJson, async (json) => {
      const { value: clean, cleaned } = cleanJson(json);
      expect(findFlaw(clean)).toBeUndefined();
      expect(cleaned).toBe(findFlaw(json) !== undefined);
      if (!cleaned) expect(clean).toBe(json);
      expect(cleanJson(clean)).toEqual({ value: clean, cleaned: false });
    }),
    { numRuns: 300 },
  );
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      expect(cleanText(text)).toHaveLength(text.length);
      expect(isStorable(cleanText(text))).toBe(true);
    }),
  );
});

describe('findFlaw names the first place', () => {
  test.each([
    ['a\u0000', '$'],
    [{ a: ['fine', { b: '\ud800' }] }, '$.a[1].b'],
    [{ a: 1, 'k\u0000': 1 }, '$."k\\u0000"'],
    [['x', '\udfff', '\u0000'], '$[1]'],
  ])('%j at %s', (json, path) => {
    expect(findFlaw(json)?.path).toBe(path);
    expect(() => assertStorable(json, 'It')).toThrow(
      expect.objectContaining({ details: { path }, message: expect.stringContaining(path) }),
    );
  });
});

class Hidden {
  readonly #secret = 7;
  get secret() {
    return this.#secret;
  }
}

test.each([
  ['a bigint', 10n, '$.a[0]'],
  ['a number that JSON lacks', NaN, '$.a[0]'],
  ['a function', () => 1, '$.a[0]'],
  ['a symbol', Symbol('s'), '$.a[0]'],
  ['a map', new Map([[1, 2]]), '$.a[0]'],
  ['a set', new Set([1]), '$.a[0]'],
  ['an error', new Error('no'), '$.a[0]'],
  ['private state', new Hidden(), '$.a[0]'],
])('%s of a caller is refused with its path, not written as {} or null', (_, given, path) => {
  expect(() => assertStorable({ a: [given] }, 'It')).toThrow(
    expect.objectContaining({ code: 'invalid_input', details: { path } }),
  );
});

test('what JSON can write is not refused: dates, addresses, absent fields, objects without fields', () => {
  const fields = { at: new Date(0), url: new URL('http://a.b'), none: undefined, empty: {}, bare: Object.create(null) };
  expect(() => assertStorable([fields, new Uint8Array(1)], 'It')).not.toThrow();
});

test('a value that is circular, or nested beyond every stack, is refused with its path', () => {
  const circle: unknown[] = [];
  circle.push(circle, circle);
  let deep: unknown = 'end';
  for (let i = 0; i < 20_000; i++) deep = { a: deep };
  for (const given of [circle, deep]) {
    expect(() => assertStorable(given, 'It')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  }
  const { value, cleaned } = cleanJson(deep);
  expect(cleaned).toBe(true);
  expect(JSON.stringify(value)).toContain('\ufffd');
});
