import { jsonSchema } from '@ai-sdk/provider-utils';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { LanefoldError } from '../../src/base/errors.ts';
import { defineTool } from '../../src/agent/tools/define-tool.ts';
import type { Tool } from '../../src/agent/tools/tool.ts';
import { toolOf } from './helpers.ts';

const invalid = (make: () => unknown) => {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(LanefoldError);
    expect((error as LanefoldError).code).toBe('invalid_tool');
    return error as LanefoldError;
  }
  throw new Error('nothing was thrown');
};

describe('defineTool', () => {
  test('infers the arguments of execute and verify from zod', async () => {
    const tool = defineTool({
      name: 'weather',
      description: 'Weather of a city',
      input: z.object({ city: z.string(), days: z.number().default(1) }),
      execute: (args, ctx) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
        expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
        return args.city;
      },
      replay: {
        verify: async (args) => {
          expectTypeOf(args.city).toBeString();
          return undefined;
        },
      },
      timeoutMs: 10,
    });
    expectTypeOf(tool).toEqualTypeOf<Tool>();
    expect(tool).toMatchObject({ name: 'weather', description: 'Weather of a city', timeoutMs: 10 });
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['city'], additionalProperties: false });
    expect(await tool.validate({ city: 'Oslo' })).toEqual({ ok: true, value: { city: 'Oslo', days: 1 } });
    expect(await tool.validate({ city: 1, days: 'x' })).toEqual({
      ok: false,
      message:
        'city: Invalid input: expected string, received number; days: Invalid input: expected number, received string',
    });
  });

  test('takes a JSON Schema as it is and checks nothing', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } } as const;
    const tool = defineTool({
      name: 't',
      input: schema,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    });
    expect(tool.inputSchema).toEqual(schema);
    expect(tool.replay).toBe('safe');
    expect(await tool.validate({ a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  });

  test('takes jsonSchema() with a validator', async () => {
    const input = jsonSchema<{ a: string }>(
      { type: 'object' },
      { validate: () => ({ success: false, error: new Error('a is missing') }) },
    );
    const tool = defineTool({ name: 't', input, execute: (args) => expectTypeOf(args).toEqualTypeOf<{ a: string }>() });
    expect(await tool.validate({})).toEqual({ ok: false, message: 'a is missing' });
  });

  test.each(['', 'a b', 'ä', 'a.b', 'x'.repeat(65)])('refuses the name %j', (name) => {
    invalid(() => toolOf(() => 1, { name }));
  });

  test('accepts the longest name', () => {
    expect(toolOf(() => 1, { name: 'A-z_9'.padEnd(64, 'x') }).name).toHaveLength(64);
  });

  test('refuses schemas no provider takes', () => {
    invalid(() => toolOf(() => 1, { input: z.string() }));
    expect(invalid(() => toolOf(() => 1, { input: z.object({ at: z.date() }) })).cause).toBeInstanceOf(Error);
    invalid(() => toolOf(() => 1, { input: jsonSchema(Promise.resolve({ type: 'object' as const })) }));
  });

  test('refuses a missing execute, a wrong replay and wrong limits', () => {
    invalid(() => toolOf(undefined as never));
    invalid(() => toolOf(() => 1, { replay: 'once' as never }));
    for (const limit of [{ timeoutMs: 0 }, { maxRetries: -1 }, { retryBackoffMs: NaN }, { maxResultBytes: 0 }])
      invalid(() => toolOf(() => 1, limit));
  });
});
