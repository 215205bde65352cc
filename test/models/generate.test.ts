import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Message, ModelTurn } from '../../src/agent/context/message.ts';
import { isStorable } from '../../src/base/checks/values.ts';
import { toPrompt } from '../../src/agent/models/prompt.ts';
import { generate, type GenerateCall } from '../../src/agent/models/generate.ts';
import { useFakeClock, useRealClock } from '../support/fake-clock.ts';
import { fakeModel, finish, text } from './fakes.ts';

const never = new AbortController().signal;
const call = (more: Partial<GenerateCall> = {}): GenerateCall => ({ prompt: [], tools: [], signal: never, ...more });
const run = (parts: LanguageModelV4StreamPart[], more: Partial<GenerateCall> = {}) =>
  generate(fakeModel(parts), call(more));

const asMessage = (turn: ModelTurn): Message => ({
  role: 'assistant',
  content: turn.text,
  tool_calls: turn.toolCalls,
  ...(turn.thinking === undefined ? {} : { thinking: turn.thinking }),
  ...(turn.reasoningDetails === undefined ? {} : { reasoning_details: turn.reasoningDetails }),
  ...(turn.providerMetadata === undefined ? {} : { provider_metadata: turn.providerMetadata }),
});

afterEach(useRealClock);

describe('a turn', () => {
  it('assembles text, thinking, calls, usage, reason and id', async () => {
    const turn = await run([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r1' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      { type: 'reasoning-end', id: 'r' },
      ...text('Hello'),
      { type: 'tool-input-delta', id: 'c1', delta: '{"a":1}' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a": 1}' },
      { type: 'tool-call', toolCallId: 'x', toolName: 'search', input: '{}', providerExecuted: true },
      finish('tool-calls'),
    ]);
    expect(turn).toEqual({
      text: 'Hello',
      thinking: 'hm',
      toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1 }, arguments_raw: '{"a": 1}' }],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, cache_read_tokens: 4, reasoning_tokens: 2 },
      finishReason: 'tool_calls',
      responseId: 'r1',
    });
  });

  it.each([
    ['stop', 'stop'],
    ['tool-calls', 'tool_calls'],
    ['length', 'length'],
    ['content-filter', 'content_filter'],
    ['error', 'error'],
    ['interrupted', 'incomplete'],
    ['other', 'unknown'],
  ] as const)('calls the reason %s %s', async (unified, ours) => {
    expect((await run([finish(unified)])).finishReason).toBe(ours);
  });

  it('counts missing usage as 0 and leaves optional counters out', async () => {
    const turn = await run([
      {
        type: 'finish',
        finishReason: { unified: 'stop', raw: undefined },
        usage: { inputTokens: {}, outputTokens: {} },
      } as never,
    ]);
    expect(turn.usage).toEqual({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  });

  it.each(['{"a":', '[1]', '"x"', '7', ''])('treats %j as no arguments and keeps the raw string', async (input) => {
    const turn = await run([{ type: 'tool-call', toolCallId: '', toolName: 'f', input }, finish('tool-calls')]);
    expect(turn.toolCalls).toEqual([{ id: '', name: 'f', arguments: {}, arguments_raw: input }]);
  });

  it('passes on prompt, tools and settings', async () => {
    const model = fakeModel([finish()]);
    const tools = [{ type: 'function' as const, name: 'f', inputSchema: {} }];
    const settings = {
      max_output_tokens: 9,
      temperature: 0,
      stop_sequences: ['x'],
      provider_options: { openai: { user: 'u' } },
    };
    await generate(
      model,
      call({ prompt: toPrompt([{ role: 'user', content: 'hi' }]), tools, toolChoice: { type: 'required' }, settings }),
    );
    expect(model.calls[0]).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools,
      toolChoice: { type: 'required' },
      maxOutputTokens: 9,
      temperature: 0,
      stopSequences: ['x'],
      providerOptions: { openai: { user: 'u' } },
      abortSignal: expect.any(AbortSignal),
    });
  });

  it('comes from doGenerate when not streaming', async () => {
    const model = fakeModel([]);
    model.doGenerate = async () => ({
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Hi' },
        { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: '{"a":1}' },
      ],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } } as never,
      response: { id: 'r9' },
      warnings: [],
    });
    expect(await generate(model, call({ stream: false }))).toMatchObject({
      text: 'Hi',
      thinking: 'hm',
      toolCalls: [{ id: 'c', arguments: { a: 1 } }],
      usage: { total_tokens: 3 },
      responseId: 'r9',
    });
  });
});

describe('what a provider needs back', () => {
  const block = (type: 'text' | 'reasoning', id: string, delta: string, providerMetadata?: object) =>
    [
      { type: `${type}-start`, id },
      { type: `${type}-delta`, id, delta },
      { type: `${type}-end`, id, ...(providerMetadata ? { providerMetadata } : {}) },
    ] as LanguageModelV4StreamPart[];
  const tool: LanguageModelV4StreamPart = {
    type: 'tool-call',
    toolCallId: 'c',
    toolName: 'f',
    input: '{}',
    providerMetadata: { openai: { itemId: 'fc' } },
  };
  const sig = (signature: string) => ({ anthropic: { signature } });

  it('is kept per block and maps back', async () => {
    const turn = await run([
      ...block('reasoning', '0', 'a', sig('1')),
      ...block('reasoning', '1', '', { anthropic: { redactedData: 'x' } }),
      ...block('text', '2', 'Hi', { openai: { itemId: 'm' } }),
      tool,
      finish(),
    ]);
    expect(turn.reasoningDetails).toEqual([
      { text: 'a', provider_metadata: sig('1') },
      { text: '', provider_metadata: { anthropic: { redactedData: 'x' } } },
    ]);
    expect(turn.providerMetadata).toEqual({ openai: { itemId: 'm' } });
    expect(toPrompt([asMessage(turn)])[0]?.content).toEqual([
      { type: 'reasoning', text: 'a', providerOptions: sig('1') },
      { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'x' } } },
      { type: 'text', text: 'Hi', providerOptions: { openai: { itemId: 'm' } } },
      { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {}, providerOptions: { openai: { itemId: 'fc' } } },
    ]);
  });

  it('keeps the order of interleaved blocks', async () => {
    const turn = await run([
      ...block('reasoning', '0', 'a', sig('1')),
      ...block('text', '1', 'One. '),
      tool,
      ...block('reasoning', '2', 'b', sig('2')),
      ...block('text', '3', 'Two.', { openai: { itemId: 'm' } }),
      finish(),
    ]);
    expect(turn.text).toBe('One. Two.');
    expect(toPrompt([asMessage(turn)])[0]?.content).toMatchObject([
      { text: 'a', providerOptions: sig('1') },
      { text: 'One. ' },
      { type: 'tool-call' },
      { text: 'b', providerOptions: sig('2') },
      { text: 'Two.', providerOptions: { openai: { itemId: 'm' } } },
    ]);
  });

  it('tells blocks with the same id apart', async () => {
    const turn = await run([...text('one '), ...block('reasoning', 'r', 'x', sig('1')), ...text('two'), finish()]);
    expect(turn.text).toBe('one two');
    expect(turn.reasoningDetails).toHaveLength(3);
  });

  it('is nothing for a single plain block of thinking', async () => {
    const turn = await run([...block('reasoning', '0', 'hm'), ...text('Hi'), finish()]);
    expect(turn).toMatchObject({ thinking: 'hm', text: 'Hi' });
    expect(turn).not.toHaveProperty('reasoningDetails');
  });
});

describe('text the database cannot store', () => {
  it('is replaced everywhere', async () => {
    const turn = await run([
      { type: 'reasoning-start', id: 'r', providerMetadata: { x: { y: '\u0000' } } },
      { type: 'reasoning-delta', id: 'r', delta: 'a\u0000' },
      ...text('b\ud800'),
      { type: 'tool-call', toolCallId: 'c\u0000', toolName: 'f', input: '{"a":"\\u0000","b":"\u0000"}' },
      { type: 'tool-call', toolCallId: 'd', toolName: 'f', input: '{"a":"\\u0000"}' },
      finish(),
    ]);
    expect(turn).toMatchObject({ text: 'b\ufffd', thinking: 'a\ufffd', cleaned: true });
    expect(turn.toolCalls[1]).toMatchObject({ arguments: { a: '\ufffd' }, arguments_raw: '{"a":"\\u0000"}' });
    expect(isStorable(turn.toolCalls[0]?.id ?? '')).toBe(true);
    expect(turn.reasoningDetails).toEqual([{ text: 'a\ufffd', provider_metadata: { x: { y: '\ufffd' } } }]);
  });

  it('does not include a surrogate pair split over two parts', async () => {
    const turn = await run([
      { type: 'text-delta', id: 't', delta: 'a\ud83d' },
      { type: 'text-delta', id: 't', delta: '\ude00b' },
      finish(),
    ]);
    expect(turn.text).toBe('a😀b');
    expect(turn).not.toHaveProperty('cleaned');
  });
});

describe('failures', () => {
  it('throws an error part and cancels the stream', async () => {
    const model = fakeModel([{ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }], { open: true });
    await expect(generate(model, call())).rejects.toMatchObject({
      name: 'ModelError',
      errorType: 'llm_stream',
      retryable: true,
      message: 'busy',
    });
    expect(model.cancelled).toHaveLength(1);
  });

  it('rejects a truncated answer', async () => {
    await expect(run(text('Hel'))).rejects.toMatchObject({ errorType: 'llm_stream', retryable: true });
  });

  it('classifies a provider that throws at once', async () => {
    const model = fakeModel([]);
    model.doStream = () => {
      throw new Error('bad prompt');
    };
    await expect(generate(model, call())).rejects.toMatchObject({ errorType: 'llm_request', retryable: false });
  });
});

describe('abort', () => {
  const reason = new Error('cancelled by the user');

  it('before the call rejects without calling', async () => {
    const model = fakeModel([finish()]);
    await expect(generate(model, call({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(model.calls).toHaveLength(0);
  });

  it('rejects during a stream that ignores it, and cancels the stream', async () => {
    const controller = new AbortController();
    const model = fakeModel(text('x'), { open: true });
    const onStart = () => setImmediate(() => controller.abort(reason));
    await expect(generate(model, call({ signal: controller.signal, onStart }))).rejects.toBe(reason);
    expect(model.calls[0]?.abortSignal?.reason).toBe(reason);
    expect(model.cancelled).toEqual([reason]);
  });

  it('rejects while doStream hangs, and cancels the stream that comes too late', async () => {
    const controller = new AbortController();
    const model = fakeModel([], { open: true });
    const open = model.doStream;
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    model.doStream = async (options) => {
      await held;
      return open(options);
    };
    const result = generate(model, call({ signal: controller.signal }));
    controller.abort(reason);
    await expect(result).rejects.toBe(reason);
    release();
    await vi.waitFor(() => expect(model.cancelled).toEqual([reason]));
  });

  it('leaves no listener on a long-lived signal', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await run([...text('a'), ...text('b'), finish()], { signal });
    await expect(run([{ type: 'error', error: 'x' }], { signal })).rejects.toThrow('x');
    expect(added).toHaveBeenCalledTimes(2);
    expect(removed).toHaveBeenCalledTimes(2);
  });
});

describe('idle timeout', () => {
  it('ends a silent stream and aborts the provider', async () => {
    useFakeClock();
    const model = fakeModel(text('x'), { open: true });
    const result = generate(model, call({ idleTimeoutMs: 1000 }));
    const failed = expect(result).rejects.toMatchObject({ errorType: 'timeout', retryable: true });
    await vi.advanceTimersByTimeAsync(1000);
    await failed;
    expect(model.calls[0]?.abortSignal?.aborted).toBe(true);
    expect(model.cancelled).toHaveLength(1);
  });

  it('restarts with every part, even an empty one', async () => {
    useFakeClock();
    const model = fakeModel([]);
    let controller!: ReadableStreamDefaultController<LanguageModelV4StreamPart>;
    model.doStream = async () => ({ stream: new ReadableStream({ start: (c) => void (controller = c) }) });
    const result = generate(model, call({ idleTimeoutMs: 1000 }));
    for (let i = 0; i < 5; i++) {
      await vi.advanceTimersByTimeAsync(900);
      controller.enqueue({ type: 'ping' });
    }
    controller.enqueue(finish());
    controller.close();
    await expect(result).resolves.toMatchObject({ finishReason: 'stop' });
    expect(vi.getTimerCount()).toBe(0);
  });
});
