// @module-tag slow
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { differsAt } from '../../../src/agent/context/canonical.ts';
import type { Message } from '../../../src/agent/context/message.ts';
import { laneKey, withCacheMarkers } from '../../../src/agent/models/cache-markers.ts';
import { generate } from '../../../src/agent/models/generate.ts';
import { toPrompt } from '../../../src/agent/models/prompt.ts';
import type { ModelSettings } from '../../../src/agent/models/settings.ts';
import { recordedMessages } from '../../support/recorded-messages.ts';
import { PrefixCache, type CacheUse } from '../../support/prefix-cache.ts';

const tool = (name: string): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description: `Looks up ${name}.`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
});
const tools = [tool('orders'), tool('flights')];

/** A provider whose cache follows the published rules; `uses` is what it made of each request. */
function cachingProvider(minimum?: number) {
  const cache = new PrefixCache(minimum);
  const uses: CacheUse[] = [];
  const answer = (body: string) => {
    const use = cache.request(JSON.parse(body) as Parameters<PrefixCache['request']>[0]);
    uses.push(use);
    return {
      type: 'message',
      id: 'm',
      model: 'm',
      role: 'assistant',
      content: [{ type: 'text', text: 'ok' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: use.input - use.read - use.written,
        cache_read_input_tokens: use.read,
        cache_creation_input_tokens: use.written,
        output_tokens: 1,
      },
    };
  };
  const model = createAnthropic({ apiKey: 'k', fetch: async (_, init) => Response.json(answer(String(init!.body))) })(
    'm',
  );
  const call = async (messages: Message[], { marked = true, settings = {} as ModelSettings } = {}) => {
    const plain = { prompt: toPrompt(messages), tools, settings };
    const sent = marked ? withCacheMarkers(plain, model, 'lane') : plain;
    return generate(model, { ...sent, stream: false, signal: new AbortController().signal });
  };
  return { uses, call };
}

/** Every request of a conversation: all that stands before an answer. */
const requests = (messages: Message[]): Message[][] =>
  messages.flatMap((message, i) => (message.role === 'assistant' ? [messages.slice(0, i)] : []));

/** A support case with ever more rounds of tools, one of 15 calls at once. */
const long: Message[] = [
  { role: 'system', content: 'Help with orders. '.repeat(300) },
  ...Array.from({ length: 30 }, (_, n): Message[] => {
    const calls = Array.from({ length: n === 20 ? 15 : 2 }, (__, c) => ({
      id: `${n}.${c}`,
      name: 'orders',
      arguments: {},
    }));
    return [
      { role: 'user', content: `And order ${n}? `.repeat(20) },
      { role: 'assistant', content: 'Let me look.', tool_calls: calls },
      ...calls.map(({ id }): Message => ({ role: 'tool', content: 'It is late. '.repeat(20), tool_call_id: id })),
      { role: 'assistant', content: 'It is late. '.repeat(10) },
    ];
  }).flat(),
];

test('nine tenths of the input of calls after the second come from the cache, in every conversation together', async () => {
  let [read, input] = [0, 0];
  for (const messages of [long, ...recordedMessages({ onlyLong: true })]) {
    const { uses, call } = cachingProvider();
    let before: Message[] = [];
    for (const request of requests(messages)) {
      expect(differsAt(before, request)).toBeUndefined();
      before = request;
      const { usage } = await call(request);
      const use = uses.at(-1)!;
      expect([usage.input_tokens, usage['cache_read_tokens'] ?? 0]).toEqual([use.input, use.read]);
    }
    expect(uses.map(({ brokenAt }) => brokenAt)).toEqual(uses.map(() => undefined));
    for (const use of uses.slice(2)) [read, input] = [read + use.read, input + use.input];
  }
  console.log(`cached: ${((read / input) * 100).toFixed(1)} % of ${input} tokens`);
  expect(read / input).toBeGreaterThanOrEqual(0.9);
});

test('a request reads all of the one before it, however many blocks have come between', async () => {
  const { uses, call } = cachingProvider();
  for (const request of requests(long)) await call(request);
  for (const [i, use] of uses.entries()) if (i > 0) expect(use.read).toBe(uses[i - 1]!.input);
});

test('without markers nothing is cached', async () => {
  const { uses, call } = cachingProvider();
  for (const request of requests(long).slice(0, 5)) await call(request, { marked: false });
  expect(uses.every(({ read, written }) => read === 0 && written === 0)).toBe(true);
});

test('the cache names what broke a beginning', async () => {
  const { uses, call } = cachingProvider();
  const [first, second] = requests(long);
  const prompted: Message[] = [{ role: 'system', content: 'Another prompt.' }, ...second!.slice(1)];
  const edited: Message[] = [...prompted.slice(0, 1), { role: 'user', content: 'Edited.' }, ...prompted.slice(2)];
  for (const request of [first!, prompted, edited]) await call(request);
  expect(uses.map(({ brokenAt }) => brokenAt)).toEqual([undefined, 'system prompt', 'message 0']);
  expect(differsAt(first!, second!)).toBeUndefined();
  expect([differsAt(first!, prompted), differsAt(prompted, edited), differsAt(second!, first!)]).toEqual([0, 1, 2]);
});

const call = {
  prompt: toPrompt([
    { role: 'system', content: 'Help.' },
    { role: 'user', content: 'Hi' },
  ]),
  tools,
  settings: {} as ModelSettings,
};
const marks = (prompt: LanguageModelV4Prompt) => prompt.map(({ providerOptions }) => providerOptions ?? null);
const ephemeral = { anthropic: { cacheControl: { type: 'ephemeral' } } };

test.each(['anthropic.messages', 'vertex.anthropic.messages'])('%s gets breakpoints', (provider) => {
  const marked = withCacheMarkers(call, { provider, modelId: 'm' }, 'lane');
  expect(marks(marked.prompt)).toEqual([ephemeral, ephemeral]);
  expect(marked.tools.map(({ providerOptions }) => providerOptions)).toEqual([undefined, ephemeral]);
  expect(marks(call.prompt)).toEqual([null, null]);
});

test.each(['openai.responses', 'openai.chat'])('%s gets a key of the lane', (provider) => {
  const { settings, prompt } = withCacheMarkers(call, { provider, modelId: 'm' }, 'lane');
  expect(settings.provider_options).toEqual({ openai: { promptCacheKey: 'lane' } });
  expect(prompt).toEqual(call.prompt);
});

describe('OpenAI models with breakpoints get two: after the system prompt and where the request before ended', () => {
  const provider = createOpenAI({
    apiKey: 'k',
    fetch: async (_, init) => {
      sent.push(JSON.parse(String(init!.body)) as Body);
      return Response.json({ error: { message: 'seen' } }, { status: 400 });
    },
  });
  type Body = { input?: unknown[]; messages?: unknown[]; prompt_cache_key?: string };
  const sent: Body[] = [];
  const result: Message = { role: 'tool', content: 'Late.', tool_call_id: 'c', name: 'orders' };
  const messages: Message[] = [
    { role: 'system', content: 'Help.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'orders', arguments: {} }] },
    result,
    { role: 'assistant', content: 'It is late.' },
    { role: 'user', content: 'Why?' },
  ];
  /** By item of the request: whether it has a breakpoint. */
  const breakpointsOf = async (model: LanguageModelV4, settings: ModelSettings = {}, asked = messages) => {
    const plain = { prompt: toPrompt(asked), tools, settings };
    const marked = withCacheMarkers(plain, model, 'lane');
    await generate(model, { ...marked, stream: false, signal: new AbortController().signal }).catch(() => {});
    const { input, messages: items = input, prompt_cache_key: key } = sent.at(-1)!;
    if (!settings.provider_options) expect(key).toBe('lane');
    return items!.map((item) => JSON.stringify(item).split('"prompt_cache_breakpoint":{"mode":"explicit"}').length - 1);
  };

  test.each(['gpt-5.6', 'gpt-6-sol', 'gpt-6.1-terra'])('%s', async (name) => {
    expect(await breakpointsOf(provider.responses(name))).toEqual([1, 0, 0, 1, 0, 0]);
    expect(await breakpointsOf(provider.chat(name))).toEqual([1, 0, 0, 1, 0, 0]);
  });

  test('also on a result of parts, and on a question', async () => {
    const parts: Message = {
      ...result,
      content: [
        { type: 'text', text: 'Late' },
        { type: 'text', text: 'again.' },
      ],
    };
    const asked = messages.map((message) => (message === result ? parts : message));
    expect(await breakpointsOf(provider.responses('gpt-6-sol'), {}, asked)).toEqual([1, 0, 0, 1, 0, 0]);
    expect(await breakpointsOf(provider.responses('gpt-6-sol'), {}, messages.slice(0, 4))).toEqual([1, 1, 0, 0]);
  });

  test.each(['gpt-4o', 'gpt-5', 'gpt-5.5'])('%s has none', async (name) => {
    expect(await breakpointsOf(provider.responses(name))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('what the settings say about them wins', async () => {
    const own = { provider_options: { openai: { promptCacheOptions: { mode: 'explicit' } } } };
    expect(await breakpointsOf(provider.responses('gpt-6-sol'), own)).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

test.each(['google.generative-ai', 'openai-compatible.chat', 'scripted'])('%s gets the call as it is', (provider) => {
  expect(withCacheMarkers(call, { provider, modelId: 'm' }, 'lane')).toBe(call);
});

test('what the settings say about caching wins', () => {
  const own = { openai: { promptCacheKey: 'mine', user: 'u' }, anthropic: { cacheControl: { type: 'ephemeral' } } };
  const given = { ...call, settings: { provider_options: own } };
  expect(
    withCacheMarkers(given, { provider: 'openai.responses', modelId: 'gpt-6-sol' }, 'lane').settings.provider_options,
  ).toEqual(own);
  expect(withCacheMarkers(given, { provider: 'anthropic.messages', modelId: 'm' }, 'lane').prompt).toEqual(call.prompt);
});

test('lanes have keys of their own, which do not name them', () => {
  const keys = [laneKey('t', 'default'), laneKey('t', 'draft'), laneKey('u', 'default')];
  expect(new Set(keys).size).toBe(3);
  expect(laneKey('t', 'default')).toMatch(/^[0-9a-f]{32}$/);
  expect(laneKey('t', 'default')).toBe(keys[0]);
});
