import { toCamelCase, toSnakeCase } from '../../src/base/common/case.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataInAnswers, dataInRequests, fromWire, isListOfItems, toWire } from '../../src/doors/client/case.ts';

const field = fc.stringMatching(/^[a-z]{1,6}(_[a-z]{1,6}){0,3}$/).filter((name) => !dataInAnswers.has(name));
const data = fc.constantFrom(...dataInAnswers).filter((name) => !isListOfItems(name, true));
const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
/** An answer: fields of the API at any depth, and JSON of any shape where data is. */
const { answer } = fc.letrec<{ answer: object; value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('answer'), fc.array(tie('value'), { maxLength: 3 })),
  answer: fc
    .tuple(fc.dictionary(field, tie('value'), { maxKeys: 4 }), fc.dictionary(data, fc.jsonValue(), { maxKeys: 2 }))
    .map(([fields, own]) => ({ ...fields, ...own })),
}));

test('names of the API change, data does not, and nothing is lost', () => {
  fc.assert(
    fc.property(answer, (wire) => {
      const back = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(back);
        if (typeof value !== 'object' || value === null) return value;
        return Object.fromEntries(
          Object.entries(value).map(([name, item]) => {
            expect(name).not.toContain('_');
            return [toSnakeCase(name), dataInAnswers.has(toSnakeCase(name)) ? item : back(item)];
          }),
        );
      };
      expect(back(fromWire(wire))).toEqual(wire);
    }),
  );
});

test('data of requests passes untouched, whatever its keys', () => {
  fc.assert(
    fc.property(fc.constantFrom(...dataInRequests), fc.jsonValue(), (name, value) => {
      expect(toWire({ [toCamelCase(name)]: value, maxTokens: { perMinute: 1 } })).toEqual({
        [name]: value,
        max_tokens: { per_minute: 1 },
      });
    }),
  );
});

test('the items of a page are resources, the data of an event is not', () => {
  expect(fromWire({ data: [{ event_seq: 1, data: { call_id: 'c', a_b: [{ c_d: 1 }] } }], next_after: 3 })).toEqual({
    data: [{ eventSeq: 1, data: { call_id: 'c', a_b: [{ c_d: 1 }] } }],
    nextAfter: 3,
  });
});
