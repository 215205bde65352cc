import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject, Message } from '../../src/agent/context/message.ts';
import { createPromptBuilder, toPrompt } from '../../src/agent/models/prompt.ts';

const call = (id: string, more: object = {}) => ({ id, name: 'add', arguments: {}, ...more });

describe('roles and parts', () => {
  it('maps system, user, assistant and tool messages', () => {
    expect(
      toPrompt([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Add 1 and 2.' },
        { role: 'assistant', content: 'Sure.', tool_calls: [call('c1', { arguments_raw: '{"b":2,"a":1}' })] },
        { role: 'tool', tool_call_id: 'c1', name: 'add', content: '3' },
        { role: 'assistant', content: '3.' },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Add 1 and 2.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Sure.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { b: 2, a: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'add', output: { type: 'text', value: '3' } }],
      },
      { role: 'assistant', content: [{ type: 'text', text: '3.' }] },
    ]);
  });

  it('maps files by data, url and data: url', () => {
    const [message] = toPrompt([
      {
        role: 'user',
        content: [
          { type: 'file', media_type: 'image/png', data: 'QUJD', filename: 'a.png' },
          { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' },
          { type: 'file', media_type: 'image/png', url: 'data:image/png;base64,QUJD' },
        ],
      },
    ]);
    expect(message?.content).toEqual([
      { type: 'file', filename: 'a.png', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
    ]);
  });

  it.each([
    [{ type: 'hologram', x: 1 }, 'hologram'],
    [{ type: 'file', media_type: 'image/png' }, 'file'],
    [{ type: 'file', media_type: 'image/png', url: 'no url' }, 'file'],
  ])('rejects %j', (part, type) => {
    expect(() => toPrompt([{ role: 'user', content: [part] }])).toThrowError(
      expect.objectContaining({ code: 'invalid_input', details: { type }, message: expect.stringContaining(type) }),
    );
  });

  it('leaves out an empty assistant message', () => {
    expect(toPrompt([{ role: 'assistant', content: '' }])).toEqual([]);
  });
});

describe('tool calls', () => {
  it.each([
    ['{"a":1}', { x: 0 }, { a: 1 }],
    ['{"a":', { x: 0 }, { x: 0 }],
    ['[1]', [1], {}],
    ['', null, {}],
    [undefined, { x: 0 }, { x: 0 }],
  ])('chooses the input from raw %j and parsed %j', (raw, parsed, input) => {
    const tool_calls = [
      { id: 'c', name: 'f', arguments: parsed as Json, ...(raw === undefined ? {} : { arguments_raw: raw }) },
    ];
    expect(toPrompt([{ role: 'assistant', content: '', tool_calls }])[0]?.content).toEqual([
      { type: 'tool-call', toolCallId: 'c', toolName: 'f', input },
    ]);
  });

  it('gathers the results of one turn in one message and finds their names', () => {
    const prompt = toPrompt([
      { role: 'assistant', content: '', tool_calls: [call('c1'), { ...call('c2'), name: 'sub' }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"ok":false,"error":{"code":"timeout"}}' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'x' }] },
      { role: 'user', content: 'and?' },
      { role: 'tool', tool_call_id: 'c9', content: 'late' },
    ]);
    expect(prompt.map((m) => m.role)).toEqual(['assistant', 'tool', 'user', 'tool']);
    expect(prompt[1]?.content).toEqual([
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'add',
        output: { type: 'text', value: '{"ok":false,"error":{"code":"timeout"}}' },
      },
      {
        type: 'tool-result',
        toolCallId: 'c2',
        toolName: 'sub',
        output: { type: 'content', value: [{ type: 'text', text: 'x' }] },
      },
    ]);
    expect(prompt[3]?.content).toMatchObject([{ toolName: 'unknown' }]);
  });
});

describe('reasoning', () => {
  const signature = { anthropic: { signature: 's' } };

  it('goes back with what the provider attached to each block, text and call', () => {
    const [message] = toPrompt([
      {
        role: 'assistant',
        content: 'Hi',
        thinking: 'ab',
        reasoning_details: [{ text: 'a', provider_metadata: signature }, { text: 'b' }],
        provider_metadata: { openai: { itemId: 'msg_1' } },
        tool_calls: [call('c', { provider_metadata: { google: { thoughtSignature: 't' } } })],
      },
    ]);
    expect(message?.content).toEqual([
      { type: 'reasoning', text: 'a', providerOptions: signature },
      { type: 'reasoning', text: 'b' },
      { type: 'text', text: 'Hi', providerOptions: { openai: { itemId: 'msg_1' } } },
      {
        type: 'tool-call',
        toolCallId: 'c',
        toolName: 'add',
        input: {},
        providerOptions: { google: { thoughtSignature: 't' } },
      },
    ]);
  });

  it('is the thinking text when there are no details', () => {
    expect(toPrompt([{ role: 'assistant', content: 'Hi', thinking: 'hm' }])[0]?.content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('keeps an unusual order, unless the message was edited since', () => {
    const message: Message = {
      role: 'assistant',
      content: 'onetwo',
      reasoning_details: [
        { text_length: 3 },
        { text: 'r' },
        { tool_call: 0 },
        { text_length: 3, provider_metadata: signature },
      ],
      tool_calls: [call('c')],
    };
    expect(toPrompt([message])[0]?.content).toMatchObject([
      { text: 'one' },
      { type: 'reasoning' },
      { type: 'tool-call' },
      { text: 'two', providerOptions: signature },
    ]);
    expect(toPrompt([{ ...message, content: 'edited' + '!' }])[0]?.content).toMatchObject([
      { type: 'reasoning', text: 'r' },
      { text: 'edited!' },
      { type: 'tool-call' },
    ]);
  });

  it('ignores details of another shape', () => {
    const reasoning_details: Json = [{ type: 'summary' }, 'x', null, { text: 5 }];
    expect(toPrompt([{ role: 'assistant', content: 'Hi', reasoning_details }])[0]?.content).toHaveLength(1);
  });
});

describe('the builder', () => {
  const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  const metadata = fc.option(fc.dictionary(fc.string(), json) as fc.Arbitrary<JsonObject>, { nil: undefined });
  const content = fc.oneof(
    fc.string(),
    fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text'), text: fc.string() }),
        fc.record({ type: fc.constant('file'), media_type: fc.constant('image/png'), data: fc.base64String() }),
      ),
    ),
  );
  const toolCall = fc.record(
    {
      id: fc.string(),
      name: fc.string(),
      arguments: json,
      arguments_raw: fc.oneof(fc.string(), fc.json()),
      provider_metadata: metadata,
    },
    { requiredKeys: ['id', 'name', 'arguments'] },
  );
  const message = fc.oneof(
    fc.record({ role: fc.constant('system'), content: fc.string() }),
    fc.record({ role: fc.constant('user'), content, provider_metadata: metadata }),
    fc.record(
      {
        role: fc.constant('assistant'),
        content,
        thinking: fc.string(),
        reasoning_details: json,
        tool_calls: fc.array(toolCall),
      },
      { requiredKeys: ['role', 'content'] },
    ),
    fc.record({ role: fc.constant('tool'), content, tool_call_id: fc.string() }),
  ) as fc.Arbitrary<Message>;

  it('gives the same bytes as the whole conversion after every push, and never modifies a returned prompt', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const builder = createPromptBuilder();
        const seen: { prompt: unknown; bytes: string }[] = [];
        messages.forEach((next, i) => {
          builder.push(next);
          const bytes = JSON.stringify(builder.prompt);
          expect(bytes).toBe(JSON.stringify(toPrompt(structuredClone(messages.slice(0, i + 1)))));
          seen.push({ prompt: builder.prompt, bytes });
        });
        for (const { prompt, bytes } of seen) expect(JSON.stringify(prompt)).toBe(bytes);
      }),
    );
  });
});
