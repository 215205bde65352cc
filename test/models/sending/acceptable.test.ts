import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Message, ToolCall } from '../../../src/agent/context/message.ts';
import { toPrompt } from '../../../src/agent/models/prompt.ts';
import {
  acceptable,
  acceptableName,
  saysNothing,
  dialectOf,
  dialects,
} from '../../../src/agent/models/acceptable-prompt.ts';
import { oddHistories, oddNames } from '../../support/odd-histories.ts';
import { apis, modelOf, sentRequest } from '../../support/sent-request.ts';
import { pairsOf, refusal } from '../../support/strict-apis.ts';

/** The indices after which a model can be called: no group is open, and the last message asks for an answer. */
const callsAfter = (messages: Message[]): number[] =>
  messages.flatMap((message, i) => {
    const next = messages[i + 1];
    return message.role === 'user' || (message.role === 'tool' && next?.role !== 'tool') ? [i] : [];
  });

const check = async (numRuns: number) => {
  for (const api of apis) {
    const dialect = dialectOf(modelOf(api));
    await fc.assert(
      fc.asyncProperty(oddHistories, async (messages) => {
        const before = structuredClone(messages);
        const body = await sentRequest(api, toPrompt(messages, dialect));
        expect(refusal(api, body)).toBeUndefined();
        expect(messages).toEqual(before);

        const results = messages.filter(({ role }) => role === 'tool');
        const calls = messages.flatMap(({ tool_calls: own }) => own ?? []);
        const pairs = pairsOf(api, body);
        expect(pairs.map(([args]) => args)).toEqual(calls.map((call) => call.arguments));
        for (const [i, [, text]] of pairs.entries()) {
          const { content } = results[i]!;
          if (typeof content === 'string') expect(text).toBe(saysNothing(content) ? '(no output)' : content);
        }

        let shorter = '[';
        for (const end of callsAfter(messages)) {
          const bytes = JSON.stringify(toPrompt(messages.slice(0, end + 1), dialect)).slice(0, -1);
          expect(bytes.startsWith(shorter)).toBe(true);
          shorter = bytes;
        }
        const again = acceptable(acceptable(messages, dialect).messages, dialect);
        expect(again.sentAs).toBeUndefined();
      }),
      { numRuns },
    );
  }
};

describe('a history with whatever models have written', () => {
  it('is refused by no provider, keeps its pairs, and grows only at its end', () => check(25));
  it('is refused by no provider, in many histories', { tags: 'long' }, () => check(3_000));
});

describe('without it, a strict provider refuses', () => {
  const calling = (id: string, name = 'look'): Message[] => [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: '', tool_calls: [{ id, name, arguments: {} }] },
    { role: 'tool', tool_call_id: id, name, content: 'Seen.' },
  ];
  it.each<[string, string, Message[]]>([
    ['chat completions', 'an empty id', calling('')],
    ['chat completions', 'a long id', calling('a'.repeat(41))],
    ['chat completions', 'an invented name', calling('c', 'functions.run')],
    [
      'chat completions',
      'an empty result',
      [...calling('c').slice(0, 2), { role: 'tool', tool_call_id: 'c', content: '' }],
    ],
    ['OpenAI Responses', 'an id of another provider', calling('call_abc|fc_0123')],
    ['OpenAI Responses', 'the id of an earlier call', [...calling('c'), ...calling('c')]],
    ['Anthropic', 'an id of another provider', calling('functions.look:0')],
    ['Anthropic', 'the id of an earlier call', [...calling('toolu_1'), ...calling('toolu_1')]],
    ['Anthropic', 'an answer first', [{ role: 'assistant', content: 'Hello.' }, ...calling('c')]],
    ['Anthropic', 'a blank user message', [{ role: 'user', content: ' ' }]],
    ['Google', 'a name that begins with a digit', calling('c', '7zip')],
    ['Google', 'a call first', calling('c').slice(1)],
  ])('%s: %s', async (api, _, messages) => {
    expect(refusal(api, await sentRequest(api, toPrompt(messages, dialects.verbatim)))).toEqual(expect.any(String));
    expect(refusal(api, await sentRequest(api, toPrompt(messages, dialectOf(modelOf(api)))))).toBeUndefined();
  });
});

const group = (...calls: Partial<ToolCall>[]): Message[] => [
  { role: 'user', content: 'Look.' },
  {
    role: 'assistant',
    content: '',
    tool_calls: calls.map((call) => ({ id: 'c', name: 'look', arguments: {}, ...call })),
  },
  ...calls.map(({ id = 'c', name = 'look' }): Message => ({ role: 'tool', tool_call_id: id, name, content: 'Seen.' })),
];

test('messages that every provider accepts are passed on as they are', () => {
  const messages: Message[] = [{ role: 'system', content: 'Help.' }, ...group({ id: 'call_1' }, { id: 'call_2' })];
  for (const dialect of [dialects.openai, dialects.anthropic, dialects.google, dialects.kimi]) {
    const sent = acceptable(messages, dialect);
    expect(sent.sentAs).toBeUndefined();
    for (const [i, message] of messages.entries()) expect(sent.messages[i]).toBe(message);
  }
});

test('an id that a model copied from a replaced one is replaced too', () => {
  const first = acceptable([...group({ id: 'a b' })], dialects.responses).messages;
  const copied = first[1]!.tool_calls![0]!.id;
  const { messages } = acceptable([...group({ id: 'a b' }), ...group({ id: copied })], dialects.responses);
  const ids = messages.flatMap(({ tool_calls: own }) => own?.map(({ id }) => id) ?? []);
  expect(ids[0]).toBe(copied);
  expect(new Set(ids).size).toBe(2);
});

test('chat completions accept an id again in another answer, and no id twice in one', () => {
  const { messages, sentAs } = acceptable([...group({}), ...group({}, {})], dialects.openai);
  expect(sentAs).toEqual({ for: 'openai', ids: 1 });
  const ids = messages.map(({ tool_calls: own }) => own?.map(({ id }) => id) ?? []);
  expect(ids[1]).toEqual(['c']);
  expect(ids[4]).toEqual(['c', expect.stringMatching(/^call_[0-9a-f]{24}$/)]);
});

test('what differs is counted', () => {
  const messages: Message[] = [
    { role: 'assistant' as const, content: 'Hello.' },
    { role: 'assistant' as const, content: ' ' },
    ...group({ id: 'x' }, { id: 'x', name: 'functions.run' }),
    { role: 'user', content: ' ' },
  ];
  expect(acceptable(messages, dialects.anthropic).sentAs).toEqual({
    for: 'anthropic',
    opened: 1,
    left_out: 1,
    ids: 1,
    names: 1,
    filled: 1,
  });
});

test('Mistral gets ids of nine letters and digits, and Kimi keeps its own', () => {
  const messages = group({ id: 'call_1' }, { id: 'functions.look:0' });
  const idsIn = (dialect: keyof typeof dialects) =>
    acceptable(messages, dialects[dialect]).messages[1]!.tool_calls!.map(({ id }) => id);
  expect(idsIn('mistral')).toEqual([expect.stringMatching(/^[a-f0-9]{9}$/), expect.stringMatching(/^[a-f0-9]{9}$/)]);
  expect(idsIn('kimi')).toEqual(['call_1', 'functions.look:0']);
});

test('names stay readable, and apart from each other and from tools', () => {
  const names = oddNames.concat('look it up', 'look_it_up', 'functions_run').map(acceptableName);
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  expect(new Set(names).size).toBe(names.length);
  expect(acceptableName('functions.run')).toMatch(/^functions_run_[0-9a-f]{6}$/);
});

test.each([
  ['openai.responses', 'gpt-5', 'responses'],
  ['openai.chat', 'gpt-5', 'openai'],
  ['azure.responses', 'gpt-5', 'responses'],
  ['openai', 'kimi-k2', 'kimi'],
  ['anthropic.messages', 'claude-sonnet-4-5', 'anthropic'],
  ['amazon-bedrock', 'amazon.nova-pro', 'anthropic'],
  ['gateway', 'anthropic/claude-sonnet-4-5', 'anthropic'],
  ['google.generative-ai', 'gemini-3-pro', 'google'],
  ['vertex.anthropic.messages', 'claude-sonnet-4-5', 'anthropic'],
  ['openrouter.chat', 'mistralai/devstral-small', 'mistral'],
  ['scripted', 'demo', 'verbatim'],
])('a model of %s named %s gets the dialect %s', (provider, modelId, name) => {
  expect(dialectOf({ provider, modelId }).name).toBe(name);
});
