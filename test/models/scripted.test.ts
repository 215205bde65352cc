import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Message, ModelTurn } from '../../src/agent/context/message.ts';
import { placeholderArgs } from '../../src/agent/models/scripted/demo.ts';
import { toPrompt } from '../../src/agent/models/prompt.ts';
import { createScriptedModel } from '../../src/agent/models/scripted/model.ts';
import { generate, type GenerateCall } from '../../src/agent/models/generate.ts';
import { useFakeClock, useRealClock } from '../support/fake-clock.ts';

const never = new AbortController().signal;
const user = (content: string): Message => ({ role: 'user', content });
const ask = (id: string, messages: Message[], more: Partial<GenerateCall> = {}) =>
  generate(createScriptedModel(id), { prompt: toPrompt(messages), tools: [], signal: never, ...more });
const answered = (turn: ModelTurn, ...results: string[]): Message[] => [
  { role: 'assistant', content: turn.text, tool_calls: turn.toolCalls },
  ...turn.toolCalls.map(({ id, name }, i): Message => ({
    role: 'tool',
    tool_call_id: id,
    name,
    content: results[i] ?? 'ok',
  })),
];
const tool = (name: string, properties: object, required?: string[]): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  inputSchema: { type: 'object', properties: properties as never, ...(required ? { required } : {}) },
});

afterEach(() => void useRealClock());

describe('scripted:echo', () => {
  it('answers with the last user message, in words, the same without streaming', async () => {
    const messages = [user('old'), user('hello big  world')];
    const turn = await ask('echo', messages);
    expect(turn).toMatchObject({ text: 'hello big  world', finishReason: 'stop', toolCalls: [] });
    expect(turn.usage).toEqual({ input_tokens: 5, output_tokens: 4, total_tokens: 9 });
    expect(await ask('echo', messages, { stream: false })).toEqual(turn);
  });
});

describe('an inline script', () => {
  const id =
    '["one?", {"tool":"add","args":{"a":1,"b":2}}, {"tools":[{"tool":"x"},{"tool":"y"}],"text":"both"}, "done"]';

  it('plays one turn per assistant message and stays on the last', async () => {
    const messages = [user('q')];
    const seen: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      const turn = await ask(id, messages);
      expect(await ask(id, messages)).toEqual(turn);
      seen.push([turn.text, ...turn.toolCalls.map((c) => [c.id, c.name, c.arguments])]);
      messages.push(...answered(turn));
    }
    expect(seen).toEqual([
      ['one?'],
      ['', ['call_1', 'add', { a: 1, b: 2 }]],
      ['both', ['call_2', 'x', {}], ['call_3', 'y', {}]],
      ['done'],
      ['done'],
    ]);
    expect((await ask(id, [...messages, user('again')])).text).toBe('one?');
  });
});

describe('scripted:demo', () => {
  const calculator = tool('calculator', { expression: { type: 'string' } }, ['expression']);
  const weather = tool('weather', { city: { type: 'string' }, unit: { enum: ['C', 'F'] } }, ['city', 'unit']);
  const search = tool('search', { query: { type: 'string' }, limit: { type: 'integer' } }, ['query']);
  const callsOf = (turn: ModelTurn) => turn.toolCalls.map((c) => [c.name, c.arguments]);

  it.each([
    ['What is 12 * (3 + 4)?', [['calculator', { expression: '12 * (3 + 4)' }]]],
    ['Add 2 and 3.5', [['calculator', { expression: '2 + 3.5' }]]],
    ['(so 2 x 3)', [['calculator', { expression: '2 * 3' }]]],
    ['How is the weather in New York?', [['weather', { city: 'New York', unit: 'C' }]]],
    [
      'What is 2+2 and the weather in Paris?',
      [
        ['calculator', { expression: '2+2' }],
        ['weather', { city: 'Paris', unit: 'C' }],
      ],
    ],
    ['hello', [['search', { query: 'hello' }]]],
  ])('%s', async (question, calls) => {
    const turn = await ask('demo', [user(question)], { tools: [search, calculator, weather] });
    expect(callsOf(turn)).toEqual(calls);
    expect(turn.finishReason).toBe('tool_calls');
  });

  it('then answers with the results', async () => {
    const messages = [user('2+2 in Paris')];
    const tools = [calculator, weather];
    const first = await ask('demo', messages, { tools });
    const turn = await ask('demo', [...messages, ...answered(first, '4', 'sunny')], { tools });
    expect(turn).toMatchObject({ text: 'Here is what I found: calculator says 4; weather says sunny.', toolCalls: [] });
  });

  it.each(['Where is order A-17?', 'Tell me about #A-17.'])('finds the id in %j', async (question) => {
    const order = tool('order_status', { orderId: { type: 'string' } }, ['orderId']);
    const turn = await ask('demo', [user(question)], { tools: [order] });
    expect(callsOf(turn)).toEqual([['order_status', { orderId: 'A-17' }]]);
  });

  it('answers at once without tools', async () => {
    expect((await ask('demo', [user('hi')])).text).toContain('hi');
    expect((await ask('demo', [user('hi')], { tools: [search], toolChoice: { type: 'none' } })).toolCalls).toEqual([]);
  });
});

it('fills a schema with placeholders', () => {
  expect(
    placeholderArgs(
      {
        type: 'object',
        required: ['s', 'n', 'e', 'd', 'o', 'a', 'r', 'b', 'u'],
        properties: {
          s: { type: 'string', maxLength: 3 },
          n: { type: 'integer', minimum: 10 },
          e: { enum: ['x', 'y'] },
          d: { type: 'string', default: 'given' },
          o: {
            type: 'object',
            required: ['t'],
            properties: { t: { type: 'string', format: 'date' }, z: { type: 'null' } },
          },
          a: { type: 'array', minItems: 1, items: { type: 'boolean' } },
          r: { $ref: '#/$defs/deep' },
          b: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
          u: true,
        },
        $defs: { deep: { const: 5 } },
      } as never,
      'hello 7',
    ),
  ).toEqual({ s: 'hel', n: 10, e: 'x', d: 'given', o: { t: '2025-01-01' }, a: [true], r: 5, b: true, u: null });
});

describe('latency', () => {
  it('waits before the first word and between words', async () => {
    useFakeClock();
    let soFar: (() => { text: string }) | undefined;
    const result = ask('echo?latency_ms=50&chunk_ms=5', [user('a b')], { onStart: (look) => (soFar = look) });
    await vi.advanceTimersByTimeAsync(54);
    expect(soFar?.().text).toBe('');
    await vi.advanceTimersByTimeAsync(1);
    expect(soFar?.().text).toBe('a ');
    await vi.advanceTimersByTimeAsync(5);
    expect((await result).text).toBe('a b');
  });

  it.each([true, false])('ends on abort and leaves no timer (stream: %s)', async (stream) => {
    useFakeClock();
    const controller = new AbortController();
    const result = ask('echo?latency_ms=50', [user('a')], { signal: controller.signal, stream });
    const failed = expect(result).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(10);
    controller.abort(new Error('enough'));
    await failed;
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reads a suffix after a script with a question mark in it', async () => {
    expect((await ask('["why?latency_ms=x"]?latency_ms=0', [user('a')])).text).toBe('why?latency_ms=x');
  });
});
