import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assertStorable, cleanJson, cleanText, findUnstorable, isStorable } from '../../src/checks/text.ts';
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
      if (findUnstorable(json) === undefined) {
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
      expect(findUnstorable(clean)).toBeUndefined();
      expect(cleaned).toBe(findUnstorable(json) !== undefined);
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

describe('findUnstorable names the first place', () => {
  test.each([
    ['a\u0000', '$'],
    [{ a: ['fine', { b: '\ud800' }] }, '$.a[1].b'],
    [{ a: 1, 'k\u0000': 1 }, '$."k\\u0000"'],
    [['x', '\udfff', '\u0000'], '$[1]'],
  ])('%j at %s', (json, path) => {
    expect(findUnstorable(json)).toBe(path);
    expect(() => assertStorable(json, 'It')).toThrow(
      expect.objectContaining({ details: { path }, message: expect.stringContaining(path) }),
    );
  });
});
