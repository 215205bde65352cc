import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { wireSchema, type WireSchema } from '../../src/server/declared/wire-schema.ts';
import { cases } from '../support/cases.ts';

const item = z.strictObject({ maxItems: z.int().min(0), keysOfData: z.record(z.string(), z.string()) });
const schema = z.strictObject({
  firstName: z.string().meta({ description: 'A name.' }),
  lastItem: item.optional(),
  allItems: z.array(item).max(3),
  orNothing: z.union([z.literal('none'), item]).nullable(),
});

// zod leaves `__proto__` out of records
const key = fc.string().filter((text) => text !== '__proto__');
const camel = fc.record({
  maxItems: fc.nat(),
  keysOfData: fc.dictionary(key, fc.string(), { noNullPrototype: true }),
});
const snake = ({ maxItems, keysOfData }: z.infer<typeof item>) => ({ max_items: maxItems, keys_of_data: keysOfData });

test('takes the same data with fields in snake_case, whatever keys records have', () => {
  const derived = wireSchema(schema) as WireSchema<typeof schema>;
  fc.assert(
    fc.property(fc.string(), fc.option(camel), fc.array(camel, { maxLength: 4 }), (name, last, all) => {
      const given = {
        first_name: name,
        ...(last && { last_item: snake(last) }),
        all_items: all.map(snake),
        or_nothing: last && snake(last),
      };
      const taken = { firstName: name, ...(last && { lastItem: last }), allItems: all, orNothing: last };
      expect(derived.safeParse(given).success).toBe(schema.safeParse(taken).success);
      expect(derived.safeParse(given).data ?? given).toEqual(given);
    }),
    { numRuns: cases(100) },
  );
});

test('refuses fields in camelCase, and keeps what is said about a field', () => {
  const derived = wireSchema(schema) as WireSchema<typeof schema>;
  const { data, error } = derived.safeParse({ firstName: 'x', all_items: [], or_nothing: null });
  expect(data).toBeUndefined();
  expect(error!.issues.map(({ code }) => code)).toContain('unrecognized_keys');
  const app = new OpenAPIHono();
  const content = { 'application/json': { schema: derived.openapi('Derived') } };
  const responses = { 200: { description: 'It.', content } };
  app.openapi(createRoute({ method: 'get', path: '/', responses }), (c) => c.json({} as never, 200));
  const { components } = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'It', version: '1' } });
  expect(components!.schemas!['Derived']).toMatchObject({
    properties: { first_name: { type: 'string', description: 'A name.' } },
  });
});
