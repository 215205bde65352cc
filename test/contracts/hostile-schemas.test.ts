// @module-tag slow
import { defineAgent, type OutputContract } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { jsonSchemaValidator, measureSchema, schemaLimits } from '../../src/agent/contracts/json-schema.ts';
import { entriesOf } from '../support/log.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const object = (properties: JsonObject, more: JsonObject = {}) => ({ type: 'object', properties, ...more }) as const;

const asContract = (schema: object): OutputContract => ({ schema: schema as OutputContract['schema'] });

/** `#/$defs/d0` stands for 2 to the `levels` copies of its last definition. */
const doubled = (levels: number, last: JsonObject = { type: 'string' }): JsonObject => {
  const $defs: JsonObject = { [`d${levels}`]: last };
  for (let i = 0; i < levels; i += 1) {
    const next = { $ref: `#/$defs/d${i + 1}` };
    $defs[`d${i}`] = { allOf: [next, next] };
  }
  return object({ a: { $ref: '#/$defs/d0' } }, { $defs });
};

const recursive = object(
  { tree: { $ref: '#/$defs/node' } },
  { $defs: { node: object({ name: { type: 'string' }, left: { $ref: '#/$defs/node' } }) } },
);
const asked = object({ a: { type: 'string' } });
const evil = object({ a: { type: 'string', pattern: '^(a+)+$' } });
const evilText = `${'a'.repeat(40)}!`;
const nested = (levels: number): JsonObject => (levels === 0 ? {} : { a: nested(levels - 1) });

describe('the size of a schema', () => {
  test('counts what a reference points to wherever it is referred to', () => {
    expect(measureSchema(doubled(3))).toMatchObject({ values: expect.any(Number), patterns: false });
    expect(measureSchema(doubled(24))).toContain('once every $ref is followed');
    expect(measureSchema(recursive)).toEqual({ values: Infinity, patterns: false });
    expect(measureSchema(evil)).toMatchObject({ patterns: true });
  });

  test('is bounded, and measured without being expanded', () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 10_000; i += 1) deep = { not: deep };
    expect(measureSchema(doubled(60))).toContain('once every $ref is followed');
    expect(() => measureSchema(deep)).not.toThrow();
    expect(measureSchema(deep)).toContain(`${schemaLimits.depth} levels`);
    expect(measureSchema(object({ a: { enum: ['x'.repeat(300_000)] } }))).toContain('characters');
  });
});

describe('validation', () => {
  const cases: [string, object, unknown, unknown][] = [
    ['in this process', object({ a: { type: 'number' } }, { required: ['a'] }), { a: 1 }, { a: 'x' }],
    ['by a pattern', object({ a: { type: 'string', pattern: '^[a-z]+$' } }), { a: 'abc' }, { a: 'ABC' }],
    ['of a recursive value', recursive, { tree: { left: { left: { name: 'x' } } } }, { tree: { left: { name: 1 } } }],
    ['with doubled references', doubled(8), { a: 'x' }, { a: 1 }],
  ];
  test.each(cases)('%s', async (_, schema, good, bad) => {
    const validator = jsonSchemaValidator(schema);
    await validator.compile();
    expect(await validator.validate(good)).toEqual({ ok: true, value: good });
    expect(await validator.validate(bad)).toEqual({ ok: false, message: expect.stringMatching(/^(a|tree)/) });
  });

  test('by a pattern that backtracks is given up, blocks nothing, and the next one works', async () => {
    const validator = jsonSchemaValidator(evil);
    let over = false;
    const given = validator.validate({ a: evilText }).finally(() => (over = true));
    // in this process the pattern would take hours, and nothing else would run
    expect(await jsonSchemaValidator(asked).validate({ a: 'x' })).toMatchObject({ ok: true });
    expect(over).toBe(false);
    await expect(given).rejects.toMatchObject({ code: 'validation_timeout' });
    expect(await jsonSchemaValidator(evil).validate({ a: 'aaa' })).toMatchObject({ ok: true });
  });
});

describe('a run with a hostile schema', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'text', model: unset })]);
  });
  afterAll(() => lanefold?.close());

  test('fails with validation_timeout while other runs of its worker continue', async () => {
    const slow = lanefold.model([{ text: JSON.stringify({ a: evilText }) }]);
    const model = lanefold.model([{ text: 'done' }]);
    let others = 0;
    let over = false;
    const attack = lanefold
      .run({ agent: 'text', model: slow.id, input: 'x', output: asContract(evil) })
      .finally(() => (over = true));
    // the pattern would take hours: both end only if a thread is given it, and then ended
    while (!over) {
      const { run } = await lanefold.run({ agent: 'text', model: model.id, input: 'y' });
      expect(run).toMatchObject({ status: 'completed', result: 'done' });
      others += 1;
    }
    const { run, threadId } = await attack;
    expect(run).toMatchObject({ status: 'failed', error: { type: 'validation_timeout' } });
    expect(slow.calls).toHaveLength(1);
    // the answer is not lost
    expect((await entriesOf(lanefold, threadId)).at(-1)).toMatchObject({ role: 'assistant' });
    expect(others).toBeGreaterThan(0);
  });

  test('is refused where the schema is too large, too deep or cannot be read', async () => {
    const model = lanefold.model([{ text: '{}' }]);
    const schemas = [doubled(24), object({ a: nested(100) }), object({ a: { type: 'string', pattern: '(' } })];
    for (const schema of schemas) {
      const refused = lanefold.runs.enqueue({ agent: 'text', model: model.id, input: 'x', output: asContract(schema) });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_output' });
    }
  });
});
