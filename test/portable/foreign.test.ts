import { convertToModelMessages, type UIMessage } from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBlank } from '../../src/base/checks/values.ts';
import { type Message, openGroupAt } from '../../src/agent/context/message.ts';
import { refused, useLog } from '../db/helpers.ts';
import { anyJson, anyText } from '../db/arbitraries.ts';
import { recordedMessages } from '../support/recorded-messages.ts';
import { cases } from '../support/cases.ts';

const log = useLog();
let made = 0;

/** The prompt and the messages that a lane shows, without what is null. */
const shown = async (id: string) =>
  (await log.contexts.project(id)).map(({ role, content, tool_calls, tool_call_id, name, thinking, refs }) =>
    Object.fromEntries(
      Object.entries({ role, content, tool_calls, tool_call_id, name, thinking, refs }).filter(([, v]) => v != null),
    ),
  );
const openai = (items: unknown) => log.threads.import({ format: 'openai', items }, { id: `o${++made}` });
const aiSdk = (messages: unknown) => log.threads.import({ format: 'ai-sdk', messages }, { id: `a${++made}` });
const outcomes = (notes: { outcome: string; where: string }[]) =>
  notes.map(({ outcome, where }) => `${outcome} ${where}`);

test('items of OpenAI’s Responses API become a prompt, messages and tool groups; the rest is listed', async () => {
  const { id, rev, notes } = await openai({
    object: 'list',
    data: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Two orders?' },
          { type: 'input_image', file_id: 'f1' },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Both.' }], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'c1', name: 'order', arguments: '{"n": 1}' },
      { type: 'function_call', call_id: 'c2', name: 'order', arguments: '{"n":2' },
      { type: 'function_call_output', call_id: 'c2', output: 'two' },
      { type: 'web_search_call', id: 'ws', status: 'completed' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One moment.' }] },
      { type: 'message', role: 'system', content: 'Now in French.' },
      { type: 'function_call_output', call_id: 'nobody', output: 'lost' },
    ],
  });
  expect(await shown(id)).toEqual([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Two orders?' },
        { type: 'text', text: '[input_image]' },
      ],
    },
    {
      role: 'assistant',
      content: '',
      thinking: 'Both.',
      tool_calls: [
        { id: 'c1', name: 'order', arguments: { n: 1 }, arguments_raw: '{"n": 1}' },
        { id: 'c2', name: 'order', arguments: {}, arguments_raw: '{"n":2' },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'c1',
      name: 'order',
      content: expect.stringContaining('missing_result'),
      refs: { kind: 'repaired' },
    },
    { role: 'tool', tool_call_id: 'c2', name: 'order', content: 'two' },
    { role: 'assistant', content: 'One moment.' },
    { role: 'user', name: 'system', content: 'Now in French.' },
    { role: 'user', name: 'tool', content: 'lost' },
  ]);
  expect(outcomes(notes)).toEqual([
    'changed items[1].content[1]',
    'left_out items[2].encrypted_content',
    'left_out items[6]',
    'changed items[8]',
    'repaired tool call c1',
    'changed a tool result',
  ]);
  const [last] = await log.threads.entries(id, { kind: 'thread_import' });
  expect(last).toMatchObject({ seq: rev - 1, payload: { format: 'openai', notes, notes_in_all: 6 } });
});

test('a list that is newest first, and anything else that is no export, is refused and creates nothing', async () => {
  const count = async () => (await log.pool.query('select count(*) from lanefold.thread')).rows;
  const before = await count();
  const backwards = [
    { type: 'function_call_output', call_id: 'c', output: '7' },
    { type: 'function_call', call_id: 'c', name: 'add', arguments: '{}' },
  ];
  for (const items of [backwards, {}, 'text', null, 7]) await refused(openai(items), 'invalid_input');
  for (const messages of [{}, [{ role: 'user' }], [{ role: 'tool', parts: [] }], undefined])
    await refused(aiSdk(messages), 'invalid_input');
  await refused(log.threads.import({ format: 'smalltalk' } as never), 'invalid_input');
  await refused(log.threads.import({ format: 'lanefold' } as never), 'invalid_input');
  expect(await count()).toEqual(before);
});

test(
  'a recorded conversation of chat messages has the same context as the recording',
  { timeout: 60_000 },
  async () => {
    for (const messages of recordedMessages().slice(0, 20)) {
      const chat = messages.map(({ role, content, tool_calls: calls, tool_call_id, name }) => ({
        role,
        content: role === 'assistant' && content === '' ? null : content,
        ...(tool_call_id === undefined ? {} : { tool_call_id }),
        ...(name === undefined ? {} : { name }),
        ...(calls && {
          tool_calls: calls.map((c) => ({
            id: c.id,
            type: 'function',
            function: { name: c.name, arguments: c.arguments_raw },
          })),
        }),
      }));
      const { id, notes } = await openai(chat);
      const isLeftOut = ({ role, content, tool_calls: calls }: Message) =>
        role !== 'tool' && calls === undefined && typeof content === 'string' && isBlank(content);
      expect(outcomes(notes).filter((note) => !note.startsWith('repaired'))).toEqual(
        messages.flatMap((message, i) => (isLeftOut(message) ? `left_out items[${i}]` : [])),
      );
      expect((await shown(id)).filter((row) => row['refs'] === undefined)).toEqual(
        messages.filter((message) => !isLeftOut(message)),
      );
    }
  },
);

test('UIMessages become what the AI SDK itself sends to a model', async () => {
  const messages: UIMessage[] = [
    { id: '0', role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
    {
      id: '1',
      role: 'user',
      parts: [
        { type: 'text', text: 'Look:' },
        { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      ],
    },
    {
      id: '2',
      role: 'assistant',
      metadata: { cost: 1 },
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Hm.', state: 'done' },
        { type: 'text', text: 'I look.' },
        { type: 'tool-look', toolCallId: 'c1', state: 'output-available', input: { at: 1 }, output: { seen: true } },
        {
          type: 'dynamic-tool',
          toolName: 'ask',
          toolCallId: 'c2',
          state: 'output-error',
          input: {},
          errorText: 'Nobody there',
        },
        { type: 'step-start' },
        { type: 'source-url', sourceId: 's', url: 'https://example.com' },
        { type: 'data-chart', data: { x: 1 } },
        { type: 'text', text: 'A cat.' },
      ],
    },
    {
      id: '3',
      role: 'assistant',
      parts: [{ type: 'tool-buy', toolCallId: 'c3', state: 'approval-requested', input: {}, approval: { id: 'x' } }],
    },
  ];
  const { id, notes } = await aiSdk(messages);
  const rows = await shown(id);
  expect(rows).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      thinking: 'Hm.',
      tool_calls: [
        { id: 'c1', name: 'look', arguments: { at: 1 } },
        { id: 'c2', name: 'ask' },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"seen":true}' },
    { role: 'tool', tool_call_id: 'c2', content: expect.stringContaining('Nobody there') },
    { role: 'assistant', content: 'A cat.' },
    { role: 'assistant', tool_calls: [{ id: 'c3', name: 'buy' }] },
    { role: 'tool', tool_call_id: 'c3', refs: { kind: 'repaired' } },
  ]);
  expect(outcomes(notes)).toEqual([
    'left_out messages[2].metadata',
    'left_out messages[2].parts[6]',
    'left_out messages[2].parts[7]',
    'repaired tool call c3',
    'left_out messages[].id',
    'left_out messages[3].parts[0].approval.id',
  ]);
  const sent = await convertToModelMessages(messages.slice(0, 3));
  const texts = (content: unknown) =>
    typeof content === 'string'
      ? content
      : (content as { text?: string }[]).flatMap((part) => part.text ?? []).join('');
  expect(
    rows
      .slice(0, 6)
      .filter(({ role }) => role !== 'tool')
      .map(({ role, content }) => [role, texts(content)]),
  ).toEqual(
    sent
      .filter(({ role }) => role !== 'tool')
      .map(({ role, content }) => {
        const parts =
          typeof content === 'string' ? content : (content as { type: string }[]).filter(({ type }) => type === 'text');
        return [role, texts(parts)];
      }),
  );
});

test('whatever a history has, its thread has closed tool groups', async () => {
  const id = fc.constantFrom('c1', 'c2');
  const item = fc.oneof(
    fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: anyText }),
    fc.record({ type: fc.constant('function_call'), call_id: id, name: fc.constant('f'), arguments: anyText }),
    fc.record({ type: fc.constant('function_call_output'), call_id: id, output: anyJson }),
    fc.record(
      { type: anyText, role: anyText, content: anyJson, tool_calls: anyJson, summary: anyJson },
      { requiredKeys: [] },
    ),
    fc.record({
      role: fc.constant('user'),
      content: fc.array(fc.record({ type: anyText, text: anyJson }), { maxLength: 2 }),
    }),
    anyJson,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 6 }), async (items) => {
      const copy = await openai(items).catch((error: { code?: string; message: string }) => {
        expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('order=asc') });
        return undefined;
      });
      if (!copy) return;
      const messages = (await log.contexts.project(copy.id)) as unknown as Message[];
      expect(openGroupAt(messages.filter(({ role }) => role !== 'system'))).toBe(-1);
    }),
    { numRuns: cases(20) },
  );
});

test('arguments that no double holds or that nest too deeply are kept as the model wrote them', async () => {
  const deep = `{"n": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  for (const [args, read] of [
    ['{"n": 1e999}', { n: '1e999' }],
    ['{"id": 2512292042121000001}', { id: '2512292042121000001' }],
    [deep, {}],
  ] as const) {
    const { id } = await openai([
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: args },
    ]);
    const [, call] = await log.threads.entries(id);
    expect(call!.payload).toMatchObject({ tool_calls: [{ arguments: read, arguments_raw: args }] });
  }
});

test('values that nest too deeply are refused, and their place is named', async () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const parts = [{ type: 'tool-f', toolCallId: 'c', state: 'output-available', output: JSON.parse(deep) as unknown }];
  const messages = [{ id: '1', role: 'assistant', parts }];
  await expect(aiSdk(messages)).rejects.toMatchObject({ code: 'invalid_input', details: { where: 'messages[0]' } });
});

test('the digest of a context stays what other versions wrote into their exports', async () => {
  const { id, rev } = await openai([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'An order?' },
    { type: 'function_call', call_id: 'c1', name: 'order', arguments: '{"n": 1, "note": null}' },
    { type: 'function_call_output', call_id: 'c1', output: 'one' },
  ]);
  const { rows } = await log.pool.query<{ digest: string }>('select lanefold.lane_digest($1, $2, $3) as digest', [
    id,
    'default',
    rev - 1,
  ]);
  expect(rows[0]!.digest).toBe('3ec180b70f781db592c728383e6c21b6ceebceb3aa0ff04838cfa69e187c9cdf');
});
