import { describe, expect, it, test } from 'vitest';
import { requestProblem } from '../../src/ops/chaos/provider.ts';
import type { Json, Message } from '../../src/agent/context/message.ts';
import { toPrompt } from '../../src/agent/models/prompt.ts';
import { dialects } from '../../src/agent/models/acceptable-prompt.ts';
import { apis, sentMessages } from '../support/sent-request.ts';

const blanks = ['', ' ', ' \n\u3000', '\u0085', '\ufeff', '\u001f\t'];
const user = (content: string): Message => ({ role: 'user', content });
const signed = { anthropic: { signature: 's' }, openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } };
const tool_calls = [{ id: 'call_1', name: 'look', arguments: {} }];
const result: Message = { role: 'tool', tool_call_id: 'call_1', content: 'Seen.' };

/** All texts of a request, at any depth, that are not reasoning. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    ['text', 'content', 'parts'].includes(key) ? (typeof inner === 'string' ? [inner] : textsOf(inner)) : [],
  );
}

describe.each(apis)('a blank answer in a request to %s', (api) => {
  const answers: [string, (blank: string) => Message][] = [
    ['alone', (content) => ({ role: 'assistant', content })],
    ['with reasoning', (content) => ({ role: 'assistant', content, thinking: 'Hm.' })],
    [
      'with signed reasoning',
      (content) => ({
        role: 'assistant',
        content,
        thinking: 'Hm.',
        reasoning_details: [{ text: 'Hm.', provider_metadata: signed }, { text_length: content.length }],
      }),
    ],
    ['as a part', (text) => ({ role: 'assistant', content: [{ type: 'text', text }] })],
    [
      'as two parts',
      (text) => ({ role: 'assistant', content: [text, ''].map((own) => ({ type: 'text', text: own })) }),
    ],
    ['as no part', () => ({ role: 'assistant', content: [] })],
  ];

  it.each(answers)('%s, leaves nothing of itself', async (_, answer) => {
    const without = await sentMessages(api, toPrompt([user('One?'), user('Two?')]));
    for (const blank of blanks) {
      expect(await sentMessages(api, toPrompt([user('One?'), answer(blank), user('Two?')]))).toEqual(without);
      expect(await sentMessages(api, toPrompt([user('One?'), user('Two?'), answer(blank)]))).toEqual(without);
    }
  });

  it.each(answers)('%s beside a call, leaves the call', async (_, answer) => {
    for (const blank of blanks) {
      const called = { ...answer(blank), tool_calls };
      const messages = await sentMessages(api, toPrompt([user('One?'), called, result]));
      expect(textsOf(messages).filter((text) => text.trim() === '')).toEqual([]);
      expect(JSON.stringify(messages)).toContain('look');
      expect(JSON.stringify(messages)).toContain('Seen.');
    }
  });
});

test('blank parts leave the text between them', () => {
  const content = ['\n', 'Yes.', ' '].map((text) => ({ type: 'text', text }));
  expect(toPrompt([{ role: 'assistant', content }])).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
  ]);
});

test('the empty text that carries the signature of an answer of Google is sent back to Google', () => {
  const signature = { google: { thoughtSignature: 's' } };
  const reasoning_details: Json[] = [{ text_length: 4 }, { text_length: 0, provider_metadata: signature }];
  const signedAnswer: Message = { role: 'assistant', content: 'Yes.', reasoning_details };
  expect(toPrompt([user('Yes?'), signedAnswer])[1]?.content).toEqual([{ type: 'text', text: 'Yes.' }]);
  expect(toPrompt([user('Yes?'), signedAnswer], dialects.google)[1]?.content).toEqual([
    { type: 'text', text: 'Yes.' },
    { type: 'text', text: '', providerOptions: signature },
  ]);
  expect(toPrompt([{ role: 'assistant', content: '', reasoning_details: reasoning_details.slice(1) }])).toEqual([]);
});

test('a strict provider refuses an answer of blanks alone, as a text and as parts', () => {
  for (const blank of blanks) {
    const problem = 'message 0 (assistant) is empty';
    expect(requestProblem([{ role: 'assistant', content: blank }])).toBe(problem);
    expect(requestProblem([{ role: 'assistant', content: [{ type: 'text', text: blank }] }])).toBe(problem);
  }
});
