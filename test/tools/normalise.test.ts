import { dynamicTool, jsonSchema, tool } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  describeTools,
  toolsByName,
  unknownTool,
  normaliseTools,
  type ToolListing,
  type ToolRecord,
} from '../../src/agent/tools/toolset.ts';
import { executeToolCall } from '../../src/agent/tools/execute.ts';
import { base, call, toolOf } from './helpers.ts';

const invalid = (listing: unknown) =>
  expect(normaliseTools(listing as ToolListing)).rejects.toMatchObject({ code: 'invalid_tool' });

const run = async (record: ToolRecord, args = {}) => {
  const [only] = await normaliseTools(record);
  return executeToolCall(only!, call(args), base, { maxRetries: 0 });
};
const empty = z.object({});

describe('AI SDK tools', () => {
  test('run unchanged', async () => {
    const execute = vi.fn(async ({ city }: { city: string }, _options: unknown) => ({ city, degrees: 20 }));
    const weather = tool({ description: 'Weather', inputSchema: z.object({ city: z.string() }), execute });
    const [normal] = await normaliseTools({ weather });
    expect(normal).toMatchObject({ name: 'weather', description: 'Weather', replay: 'safe' });
    expect(normal!.inputSchema).toMatchObject({ type: 'object', required: ['city'] });

    const outcome = await executeToolCall(normal!, call({ city: 'Oslo' }), base);
    expect(outcome).toMatchObject({ status: 'ok', content: '{"city":"Oslo","degrees":20}' });
    expect(execute).toHaveBeenCalledExactlyOnceWith(
      { city: 'Oslo' },
      {
        toolCallId: 'call_1',
        messages: [],
        abortSignal: expect.any(AbortSignal),
        context: base.context,
        experimental_context: base.context,
      },
    );
    expect((await executeToolCall(normal!, call({}), base)).error?.type).toBe('invalid_arguments');
  });

  test('may stream: the last value counts', async () => {
    const stream = tool({
      inputSchema: empty,
      async *execute() {
        yield { done: false };
        yield { done: true };
      },
    });
    expect((await run({ stream })).content).toBe('{"done":true}');
  });

  test('may have lazy schemas, which are resolved once', async () => {
    const make = vi.fn(() => Promise.resolve({ type: 'object' as const }));
    const lazy = dynamicTool({ inputSchema: jsonSchema(make), execute: async (input) => input });
    const tools = await normaliseTools({ lazy });
    expect(describeTools(tools)[0]!.inputSchema).toEqual({ type: 'object' });
    expect((await executeToolCall(tools[0]!, call({ a: 1 }), base)).content).toBe('{"a":1}');
    expect(make).toHaveBeenCalledOnce();
    await invalid({
      broken: tool({ inputSchema: jsonSchema(() => Promise.reject(new Error('no'))), execute: async () => 1 }),
    });
  });

  test.each([
    [{ type: 'text', value: 'hi' }, 'ok', 'hi'],
    [{ type: 'json', value: { a: 1 } }, 'ok', '{"a":1}'],
    [
      {
        type: 'content',
        value: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      'ok',
      'one\ntwo',
    ],
    [
      { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }] },
      'ok',
      '[file image/png: omitted, because tool messages are text]',
    ],
    [
      { type: 'error-text', value: 'bad' },
      'error',
      '{"ok":false,"error":{"type":"tool_error","message":"bad","retryable":false}}',
    ],
    [
      { type: 'error-json', value: { a: 1 } },
      'error',
      '{"ok":false,"error":{"type":"tool_error","message":"{\\"a\\":1}","retryable":false}}',
    ],
    [
      { type: 'execution-denied', reason: 'no' },
      'error',
      '{"ok":false,"error":{"type":"denied","message":"no","retryable":false}}',
    ],
  ])('toModelOutput %j is honoured', async (output, status, content) => {
    const toModelOutput = vi.fn(() => output as never);
    const shown = tool({ inputSchema: empty, execute: async () => 'raw', toModelOutput });
    expect(await run({ shown })).toMatchObject({ status, content });
    expect(toModelOutput).toHaveBeenCalledExactlyOnceWith({ toolCallId: 'call_1', input: {}, output: 'raw' });
  });

  test('an MCP result with isError is an error', async () => {
    const failing = dynamicTool({
      inputSchema: jsonSchema({ type: 'object' }),
      execute: async () => ({ content: [{ type: 'text', text: 'no such file' }], isError: true }),
      toModelOutput: () => ({ type: 'text', value: 'not asked' }),
    });
    expect((await run({ failing })).error).toEqual({ type: 'tool_error', message: 'no such file', retryable: false });
  });

  test('get their context by their contextSchema', async () => {
    const scoped = (contextSchema: z.ZodType<Record<string, unknown>>) =>
      tool({ inputSchema: empty, contextSchema, execute: async (_, { context }) => context });
    expect((await run({ scoped: scoped(z.object({ tenant: z.string() })) })).content).toBe('{"tenant":"acme"}');
    expect((await run({ scoped: scoped(z.object({ user: z.string() })) })).error?.type).toBe('invalid_context');
  });

  test('carry what the provider and the approval need', async () => {
    const asks = tool({
      description: () => 'made',
      inputSchema: empty,
      strict: true,
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
      needsApproval: async (_, { context }) => (context as { tenant: string }).tenant === 'acme',
      execute: async () => 1,
    });
    const [normal] = await normaliseTools({ asks });
    expect(describeTools([normal!])[0]).toMatchObject({
      description: 'made',
      strict: true,
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    });
    const { needsApproval } = normal!;
    const pending = { toolCallId: 'c', idempotencyKey: 'k', signal: AbortSignal.any([]) };
    if (typeof needsApproval !== 'function') throw new Error('lost');
    expect(await needsApproval({}, { ...base, ...pending })).toBe(true);
  });

  test('that are unusable are rejected', async () => {
    await invalid({ none: tool({ inputSchema: empty, outputSchema: empty }) });
    await invalid({ 'bad name': tool({ inputSchema: empty, execute: async () => 1 }) });
    await invalid({ text: tool({ inputSchema: z.string(), execute: async () => 1 }) });
    await invalid({ provider: { type: 'provider', id: 'a.b', args: {}, inputSchema: empty, execute: () => 1 } });
    await invalid({ old: { parameters: empty, execute: () => 1 } });
    await invalid({ nothing: null });
    await invalid([null]);
    await invalid([tool({ inputSchema: empty, execute: async () => 1 })]);
  });
});

describe('a listing', () => {
  const mine = toolOf(() => 1, { name: 'mine' });
  const theirs = tool({ inputSchema: empty, execute: async () => 1 });

  test('may mix tools and records and keeps their order', async () => {
    const tools = await normaliseTools([
      toolOf(() => 1, { name: 'z' }),
      { theirs, mine },
      toolOf(() => 1, { name: 'a' }),
    ]);
    expect(tools.map((t) => t.name)).toEqual(['z', 'theirs', 'mine', 'a']);
    expect(Object.isFrozen(tools)).toBe(true);
    expect(tools[2]).toBe(mine);
    expect(await normaliseTools([])).toEqual([]);
  });

  test('is not confused by tools called name and validate', async () => {
    expect((await normaliseTools({ name: theirs, validate: theirs })).map((t) => t.name)).toEqual(['name', 'validate']);
  });

  test('has each name once', async () => {
    await invalid([mine, mine]);
    await invalid([mine, { mine: theirs }]);
    await invalid({ other: mine });
    // Two failures at once: the second must not surface as an unhandled rejection.
    await invalid([{ bad: { inputSchema: empty } }, { ...mine, name: '' }]);
  });
});

describe('lookup and descriptors', () => {
  test('find tools by name, and answer for unknown ones', () => {
    const mine = toolOf(() => 1, { name: 'mine' });
    const byName = toolsByName([mine]);
    expect(byName.get('mine')).toBe(mine);
    expect(byName.get('toString')).toBeUndefined();
    expect(unknownTool('x')).toEqual({
      status: 'error',
      content: `{"ok":false,"error":{"type":"unknown_tool","message":"Tool 'x' not found","retryable":false}}`,
      error: { type: 'unknown_tool', message: "Tool 'x' not found", retryable: false },
      attempts: 1,
      durationMs: 0,
    });
    expect(unknownTool('\0').cleaned).toBe(true);
  });

  test('describe tools in listing order, once per list', () => {
    const list = [toolOf(() => 1, { name: 'b', description: 'B' }), toolOf(() => 1, { name: 'a' })];
    expect(describeTools(list)).toEqual([
      { type: 'function', name: 'b', description: 'B', inputSchema: { type: 'object' } },
      { type: 'function', name: 'a', inputSchema: { type: 'object' } },
    ]);
    expect(describeTools(list)).toBe(describeTools(list));
  });
});
