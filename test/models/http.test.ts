// @module-tag slow
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../src/agent/context/message.ts';
import { toPrompt } from '../../src/agent/models/prompt.ts';
import { createModelRegistry } from '../../src/agent/models/registry.ts';
import { generate, type GenerateCall } from '../../src/agent/models/generate.ts';
import { startModelServer, type ModelServer } from '../support/openai-server.ts';

let server: ModelServer;
beforeEach(async () => void (server = await startModelServer()));
afterEach(() => server.close());

const never = new AbortController().signal;
const add = { type: 'function' as const, name: 'add', inputSchema: { type: 'object' as const } };
const question: Message = { role: 'user', content: 'Add 1 and 2.' };

async function ask(id: string, messages: Message[] = [question], more: Partial<GenerateCall> = {}) {
  const base = server.url;
  const env = {
    OPENAI_BASE_URL: base,
    OPENAI_API_KEY: 'test',
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_API_KEY: 'test',
    GOOGLE_GENERATIVE_AI_BASE_URL: base,
    GOOGLE_GENERATIVE_AI_API_KEY: 'test-google',
  };
  const model = await createModelRegistry({ env }).resolve(id);
  return generate(model, { prompt: toPrompt(messages), tools: [add], signal: never, ...more });
}

describe('OpenAI-compatible', () => {
  const id = 'openai:test-model';

  it.each([
    [{ prompt_tokens: '12', completion_tokens: '3', total_tokens: '15' }, [12, 3, 15]],
    [{ prompt_tokens: 'many', completion_tokens: 3 }, [0, 3, 3]],
    [{ prompt_tokens: null, completion_tokens: -1, total_tokens: 15 }, [0, 0, 15]],
  ])('reads an answer with the usage %j', async (rawUsage, counted) => {
    const said = 'It said "prompt_tokens": "9", twice: "total_tokens":"x".';
    for (const stream of [true, false]) {
      server.reply({ text: said, rawUsage, fragments: 5 });
      const { text, usage } = await ask(id, [question], { stream });
      expect(text).toBe(said);
      expect([usage.input_tokens, usage.output_tokens, usage.total_tokens]).toEqual(counted);
    }
  });

  it('reads an answer whose usage is NaN', async () => {
    const whole =
      '{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens": NaN, "completion_tokens": 2}}';
    server.reply({ status: 200, body: whole });
    const { text, usage } = await ask(id, [question], { stream: false });
    expect([text, usage.input_tokens, usage.output_tokens]).toEqual(['hi', 0, 2]);
  });

  it('ends an answer that calls thousands of tools before it is put together', async () => {
    const made = Array.from({ length: 3_000 }, (_, i) => ({ id: `c${i}`, name: 'add', arguments: '{}' }));
    // the place of each call is the same, so the package compares it with all others
    const deltas = made.map(({ id, ...fn }) => ({ index: 0, id, type: 'function', function: fn }));
    const chunk = (calls: object[]) =>
      `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta: { tool_calls: calls } }] })}\n\n`;
    const many = { errorType: 'llm_response', retryable: false, message: expect.stringContaining('2000 tools') };
    for (const body of [chunk(deltas), deltas.map((delta) => chunk([delta])).join('')]) {
      server.reply({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: `${body}data: [DONE]\n\n` });
      await expect(ask(id)).rejects.toMatchObject(many);
    }
    for (const [other, stream] of [
      [id, false],
      ['anthropic:test-model', true],
      ['anthropic:test-model', false],
      ['google:test-model', true],
    ] as const) {
      server.reply({ toolCalls: made });
      await expect(ask(other, [question], { stream })).rejects.toMatchObject(many);
    }
    server.reply({ toolCalls: made.slice(0, 1_000) });
    expect((await ask(id)).toolCalls).toHaveLength(1_000);
  });

  it('streams reasoning, text, calls in fragments, and usage', async () => {
    server.reply({
      reasoning: 'let me think',
      text: 'I will add. 😀',
      toolCalls: [
        { id: 'c1', name: 'add', arguments: '{"a": 1, "b": 2}' },
        { id: 'c2', name: 'add', arguments: '{"a":' },
      ],
      fragments: 7,
    });
    const turn = await ask(id, [question]);
    expect(turn).toEqual({
      text: 'I will add. 😀',
      thinking: 'let me think',
      toolCalls: [
        { id: 'c1', name: 'add', arguments: { a: 1, b: 2 }, arguments_raw: '{"a": 1, "b": 2}' },
        { id: 'c2', name: 'add', arguments: {}, arguments_raw: '{"a":' },
      ],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, cache_read_tokens: 4, reasoning_tokens: 2 },
      finishReason: 'tool_calls',
      responseId: 'chatcmpl-1',
    });
    expect(server.requests[0]).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: 'Bearer test' },
      body: {
        model: 'test-model',
        stream: true,
        stream_options: { include_usage: true },
        tools: [{ type: 'function' }],
      },
    });
  });

  it('sends the history with the same bytes every time', async () => {
    const history: Message[] = [
      { role: 'system', content: 'Be brief.' },
      question,
      {
        role: 'assistant',
        content: '',
        thinking: 'hm',
        tool_calls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 }, arguments_raw: '{"b":2,"a":1}' }],
      },
      { role: 'tool', tool_call_id: 'c1', name: 'add', content: '{"ok":false,"error":{"message":"no"}}' },
    ];
    server.reply({ text: 'a' }, { text: 'b' });
    await ask(id, history);
    await ask(id, structuredClone(history));
    const [first, second] = server.requests.map((request) => JSON.stringify(request.body));
    expect(first).toBe(second);
    expect(server.requests[0]?.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Add 1 and 2.' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"b":2,"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"ok":false,"error":{"message":"no"}}' },
    ]);
  });

  it('sends the settings', async () => {
    server.reply({ text: 'ok' });
    const settings = {
      max_output_tokens: 7,
      temperature: 0.5,
      seed: 1,
      reasoning: 'low' as const,
      headers: { 'x-mine': 'yes' },
      provider_options: { openai: { user: 'u1' } },
      response_format: { type: 'json' as const, schema: { type: 'object' as const }, name: 'answer' },
    };
    await ask(id, [question], { settings, toolChoice: { type: 'tool', toolName: 'add' } });
    expect(server.requests[0]).toMatchObject({
      headers: { 'x-mine': 'yes' },
      body: {
        max_tokens: 7,
        temperature: 0.5,
        seed: 1,
        reasoning_effort: 'low',
        user: 'u1',
        tool_choice: { type: 'function', function: { name: 'add' } },
        response_format: { type: 'json_schema', json_schema: { name: 'answer' } },
      },
    });
  });

  it('works without streaming', async () => {
    server.reply({ text: 'Hi', toolCalls: [{ id: 'c1', name: 'add', arguments: '{}' }] });
    const turn = await ask(id, [question], { stream: false });
    expect(turn).toMatchObject({ text: 'Hi', toolCalls: [{ id: 'c1', arguments: {} }], usage: { total_tokens: 15 } });
    expect(server.requests[0]?.body.stream).toBeUndefined();
  });

  it('counts 0 when the server sends no usage', async () => {
    server.reply({ text: 'Hi', usage: null });
    expect((await ask(id)).usage).toEqual({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  });

  it.each([
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '3' }, body: { error: { message: 'slow down' } } },
      {
        errorType: 'llm_request',
        retryable: true,
        statusCode: 429,
        retryAfterMs: 3000,
        message: 'slow down (HTTP 429)',
      },
    ],
    ['a server error', { status: 500, body: 'oops' }, { errorType: 'llm_request', retryable: true, statusCode: 500 }],
    [
      'a bad request',
      { status: 400, body: { error: { message: 'bad key sk-1234567890' } } },
      { errorType: 'llm_request', retryable: false, statusCode: 400, message: 'bad key [redacted] (HTTP 400)' },
    ],
    ['a cut stream', { text: 'Hello world', cutAfter: 2 }, { errorType: 'llm_stream', retryable: true }],
    [
      'HTML instead of a stream',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>hello</h1>' },
      { errorType: 'llm_stream', retryable: true },
    ],
    [
      'nonsense in the stream',
      { status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: {"choices": 5}\n\n' },
      { errorType: 'llm_response', retryable: false },
    ],
    [
      'an error in the stream',
      {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: 'data: {"error":{"message":"x","type":"server_error"}}\n\n',
      },
      { errorType: 'llm_stream', retryable: true },
    ],
  ])('classifies %s', async (_, reply, expected) => {
    server.reply(reply);
    const failure = await ask(id).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ModelError', ...expected });
  });

  it('fails as retryable when the connection is refused', async () => {
    await server.close();
    await expect(ask(id)).rejects.toMatchObject({ errorType: 'llm_request', retryable: true });
  });

  it.each([
    ['before the answer', { hang: true as const }],
    ['in the answer', { text: 'Hello world', hangAfter: 2 }],
  ])('times out on silence %s and hangs up', async (_, reply) => {
    server.reply(reply);
    await expect(ask(id, [question], { idleTimeoutMs: 50 })).rejects.toMatchObject({
      errorType: 'timeout',
      retryable: true,
    });
    await server.requests[0]?.closed;
  });

  it.each([
    ['before the answer', { hang: true as const }],
    ['in the answer', { text: 'Hello world', hangAfter: 2 }],
  ])('hangs up on abort %s', async (_, reply) => {
    server.reply(reply);
    const controller = new AbortController();
    const arrived = server.nextRequest();
    const result = ask(id, [question], { signal: controller.signal });
    const request = await arrived;
    const reason = new Error('cancelled');
    controller.abort(reason);
    await expect(result).rejects.toBe(reason);
    await request.closed;
  });
});

describe('Anthropic', () => {
  const id = 'anthropic:claude-sonnet-4-5';

  it('streams a signed turn and gets its signature back', async () => {
    server.reply(
      { reasoning: 'think', text: 'Adding.', toolCalls: [{ id: 't1', name: 'add', arguments: '{"a":1}' }] },
      { text: 'Done.' },
    );
    const turn = await ask(id);
    expect(turn).toMatchObject({
      text: 'Adding.',
      thinking: 'think',
      reasoningDetails: [{ text: 'think', provider_metadata: { anthropic: { signature: 'sig-1' } } }],
      toolCalls: [{ id: 't1', arguments: { a: 1 }, arguments_raw: '{"a":1}' }],
      finishReason: 'tool_calls',
      usage: { input_tokens: 10, output_tokens: 5 },
      responseId: 'msg_1',
    });
    const last = await ask(id, [
      question,
      {
        role: 'assistant',
        content: turn.text,
        tool_calls: turn.toolCalls,
        ...(turn.reasoningDetails === undefined ? {} : { reasoning_details: turn.reasoningDetails }),
        ...(turn.providerMetadata === undefined ? {} : { provider_metadata: turn.providerMetadata }),
      },
      { role: 'tool', tool_call_id: 't1', name: 'add', content: '1' },
    ]);
    expect(last.text).toBe('Done.');
    expect(server.requests[1]?.body.messages[1].content).toMatchObject([
      { type: 'thinking', thinking: 'think', signature: 'sig-1' },
      { type: 'text', text: 'Adding.' },
      { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
    ]);
  });

  it('reports overload as retryable', async () => {
    server.reply({ status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } });
    await expect(ask(id)).rejects.toMatchObject({ retryable: true, statusCode: 529 });
  });
});

describe('Google', () => {
  const id = 'google:gemini-3-pro';
  const details = (retryDelay: unknown) => [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ];
  const exhausted = (retryDelay: unknown) => ({
    error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details: details(retryDelay) },
  });

  it('streams thoughts, text, a signed call and usage, and gets its signature back', async () => {
    server.reply(
      { reasoning: 'think', text: 'Adding.', toolCalls: [{ id: 'g1', name: 'add', arguments: '{"a":1,"b":2}' }] },
      { text: 'Done.' },
    );
    const turn = await ask(id);
    expect(turn).toMatchObject({
      text: 'Adding.',
      thinking: 'think',
      toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 }, arguments_raw: '{"a":1,"b":2}' }],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      finishReason: 'tool_calls',
      responseId: 'resp_1',
    });
    expect(server.requests[0]).toMatchObject({
      url: '/v1/models/gemini-3-pro:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': 'test-google' },
      body: { contents: [{ role: 'user', parts: [{ text: 'Add 1 and 2.' }] }], tools: [{}] },
    });
    const [call] = turn.toolCalls;
    const last = await ask(id, [
      { role: 'system', content: 'Be brief.' },
      question,
      {
        role: 'assistant',
        content: turn.text,
        tool_calls: turn.toolCalls,
        ...(turn.reasoningDetails === undefined ? {} : { reasoning_details: turn.reasoningDetails }),
        ...(turn.providerMetadata === undefined ? {} : { provider_metadata: turn.providerMetadata }),
      },
      { role: 'tool', tool_call_id: call!.id, name: 'add', content: '3' },
    ]);
    expect(last).toMatchObject({ text: 'Done.', toolCalls: [], finishReason: 'stop' });
    const { systemInstruction, contents } = server.requests[1]!.body;
    expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] });
    expect(contents[1].role).toBe('model');
    expect(contents[1].parts).toContainEqual(
      expect.objectContaining({
        functionCall: expect.objectContaining({ name: 'add', args: { a: 1, b: 2 } }),
        thoughtSignature: 'sig-1',
      }),
    );
    expect(contents[2].parts[0].functionResponse).toMatchObject({ name: 'add' });
  });

  it('works without streaming, and assigns an id to a call without one', async () => {
    server.reply({ text: 'Hi', toolCalls: [{ name: 'add', arguments: '{}' }] });
    const turn = await ask(id, [question], { stream: false });
    expect(turn).toMatchObject({ text: 'Hi', toolCalls: [{ arguments: {} }], usage: { total_tokens: 15 } });
    expect(turn.toolCalls[0]!.id).not.toBe('');
    expect(server.requests[0]!.url).toBe('/v1/models/gemini-3-pro:generateContent');
  });

  it.each([
    ['whole seconds', '36s', 36_000],
    ['fractions', '0.857s', 857],
    ['an object', { seconds: '2', nanos: 500_000_000 }, 2_500],
    ['nonsense', 'soon', undefined],
  ])('reads the retry delay from the body, where Gemini puts it: %s', async (_, retryDelay, expected) => {
    server.reply({ status: 429, body: exhausted(retryDelay) });
    const failure = await ask(id).catch((error: unknown) => error as { retryAfterMs?: number });
    expect(failure).toMatchObject({ errorType: 'llm_request', retryable: true, statusCode: 429 });
    expect((failure as { retryAfterMs?: number }).retryAfterMs).toBe(expected);
  });

  it('does not retry a bad request, and reveals no key', async () => {
    const message = 'API key not valid: AIzaSyA-1234567890abcdef.';
    server.reply({ status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } });
    await expect(ask(id)).rejects.toMatchObject({
      errorType: 'llm_request',
      retryable: false,
      statusCode: 400,
      message: 'API key not valid: [redacted]. (HTTP 400)',
    });
  });

  it.each([
    [
      'an error in the stream',
      `data: ${JSON.stringify(exhausted('3s'))}\n\n`,
      { retryable: true, retryAfterMs: 3_000 },
    ],
    [
      'an overload in the stream',
      'data: {"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}\n\n',
      { retryable: true },
    ],
  ])('classifies %s', async (_, body, expected) => {
    server.reply({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
    await expect(ask(id)).rejects.toMatchObject({ errorType: 'llm_stream', ...expected });
  });

  it('tells a cut stream from a finished one', async () => {
    server.reply({ text: 'Hello world', cutAfter: 2 });
    await expect(ask(id)).rejects.toMatchObject({ errorType: 'llm_stream', retryable: true });
  });
});
