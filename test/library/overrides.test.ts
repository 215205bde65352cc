import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent, defineTool, type EnqueueOptions, type JsonObject } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { entriesOf } from '../support/log.ts';
import { startModelServer, type ModelServer } from '../support/openai-server.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const tool = (name: string) =>
  defineTool({ name, input: z.object({}), execute: (_, ctx) => ({ [name]: ctx.context }) });

describe('a request', () => {
  let lanefold: Runtime;
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
    lanefold = await startRuntime(
      [
        defineAgent({
          name: 'a',
          model: unset,
          tools: [tool('one'), tool('two')],
          settings: { temperature: 0.5, maxOutputTokens: 100, headers: { 'x-agent': 'a', 'x-both': 'agent' } },
          toolContext: { from: 'agent', agent: true },
        }),
      ],
      {
        tools: [tool('three')],
        models: {
          http: createOpenAICompatible({ name: 'http', baseURL: server.url, supportsStructuredOutputs: true })('m'),
        },
      },
    );
  });
  afterAll(async () => {
    await lanefold?.close();
    await server?.close();
  });

  /** The first model call of a run with these overrides. */
  const firstCall = async (overrides: Partial<EnqueueOptions>) => {
    const model = lanefold.model([{ text: 'ok' }]);
    const { run } = await lanefold.run({ agent: 'a', model: model.id, input: 'x', ...overrides });
    expect(run.status).toBe('completed');
    return model.calls[0]!;
  };
  const toolNames = async (overrides: Partial<EnqueueOptions>) =>
    ((await firstCall(overrides)).tools ?? []).map((sent) => sent.name);

  test('replaces the tools, filters them or removes them all', async () => {
    expect(await toolNames({})).toEqual(['one', 'two']);
    expect(await toolNames({ tools: ['three', 'one'] })).toEqual(['three', 'one']);
    expect(await toolNames({ allowedTools: ['two'] })).toEqual(['two']);
    expect(await toolNames({ tools: ['three', 'one'], allowedTools: ['three'] })).toEqual(['three']);
    expect(await toolNames({ allowedTools: [] })).toEqual([]);
    expect(await toolNames({ tools: [] })).toEqual([]);
  });

  test('also filters the tools registered on its thread', async () => {
    await lanefold.threads.create({ id: 'registered' });
    await lanefold.threads.configure('registered', { registerTools: ['three'], unregisterTools: ['one'] });
    const on = { threadId: 'registered' };
    expect(await toolNames(on)).toEqual(['two', 'three']);
    expect(await toolNames({ ...on, allowedTools: ['one', 'three'] })).toEqual(['three']);
    expect(await toolNames({ ...on, tools: ['one'] })).toEqual(['one']);
  });

  test('does not run a tool it excludes, even if the model calls it', async () => {
    const model = lanefold.model([{ calls: [{ name: 'one' }, { name: 'two' }] }, { text: 'ok' }]);
    const { threadId } = await lanefold.run({ agent: 'a', model: model.id, input: 'x', allowedTools: ['two'] });
    const results = (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'tool');
    expect(results.map((entry) => JSON.parse(entry.payload['content'] as string) as JsonObject)).toMatchObject([
      { ok: false, error: { type: 'unknown_tool' } },
      { two: { from: 'agent' } },
    ]);
  });

  test('merges its settings over the agent’s, and its headers over both', async () => {
    const call = await firstCall({
      settings: {
        temperature: 0,
        topP: 0.9,
        stopSequences: ['END'],
        providerOptions: { openai: { user: 'u-1' } },
        headers: { 'x-both': 'settings', 'x-settings': 's' },
      },
      headers: { 'x-both': 'request' },
    });
    expect(call).toMatchObject({
      temperature: 0,
      maxOutputTokens: 100,
      topP: 0.9,
      stopSequences: ['END'],
      providerOptions: { openai: { user: 'u-1' } },
      headers: { 'x-agent': 'a', 'x-settings': 's', 'x-both': 'request' },
    });
    expect(await firstCall({})).toMatchObject({ temperature: 0.5, headers: { 'x-both': 'agent' } });
  });

  test('passes headers and limits to the provider, and can turn streaming off', async () => {
    server.reply({ text: 'whole' });
    const { run } = await lanefold.run({
      agent: 'a',
      model: 'http',
      input: 'x',
      streaming: false,
      settings: { maxOutputTokens: 7 },
      headers: { 'x-trace': 't-1' },
    });
    expect(run).toMatchObject({ status: 'completed', result: 'whole' });
    const sent = server.requests.at(-1)!;
    expect(sent.headers).toMatchObject({ 'x-trace': 't-1', 'x-agent': 'a' });
    expect(sent.body).toMatchObject({ max_tokens: 7, temperature: 0.5 });
    expect(sent.body).not.toHaveProperty('stream');
  });

  test('merges its tool context over the agent’s', async () => {
    const model = lanefold.model([{ calls: [{ name: 'one' }] }, { text: 'ok' }]);
    const options = { agent: 'a', model: model.id, input: 'x', toolContext: { from: 'request' } };
    const { threadId } = await lanefold.run(options);
    const [result] = (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'tool');
    expect(JSON.parse(result!.payload['content'] as string)).toEqual({ one: { from: 'request', agent: true } });
  });

  test('sets the timeouts of its tools and its model', async () => {
    server.reply({ hang: true });
    const silent = await lanefold.run({ agent: 'a', model: 'http', input: 'x', idleTimeoutMs: 50 });
    expect(silent.run).toMatchObject({ status: 'failed', error: { type: 'timeout' } });
    const slow = defineTool({ name: 'slow', input: z.object({}), execute: () => new Promise(() => {}) });
    const own = await startRuntime([
      defineAgent({ name: 'a', model: unset, tools: [slow], toolMaxRetries: 0, toolTimeoutMs: 600_000 }),
    ]);
    try {
      const model = own.model([{ calls: [{ name: 'slow' }] }, { text: 'ok' }]);
      const { threadId, run } = await own.run({ agent: 'a', model: model.id, input: 'x', toolTimeoutMs: 50 });
      expect(run.status).toBe('completed');
      const [result] = (await entriesOf(own, threadId)).filter((entry) => entry.role === 'tool');
      expect(JSON.parse(result!.payload['content'] as string)).toMatchObject({ error: { type: 'timeout' } });
    } finally {
      await own.close();
    }
  });

  test('does not affect the next request', async () => {
    const first = await lanefold.run({ agent: 'a', model: 'scripted:["x"]', input: 'x', allowedTools: [] });
    expect(await toolNames({ threadId: first.threadId })).toEqual(['one', 'two']);
  });

  test.each([
    [{ tools: ['one', 'nope', 'none'] }, 'unknown_tool', /"none", "nope"/],
    [{ allowedTools: ['nope'] }, 'unknown_tool', /"nope"/],
    [{ tools: ['one'], allowedTools: ['two'] }, 'unknown_tool', /"two"/],
    [{ tools: 'one' }, 'invalid_input', /tools/],
    [{ allowedTools: [1] }, 'invalid_input', /allowedTools/],
    [{ settings: { temperature: 'hot' } }, 'invalid_input', /temperature/],
    [{ settings: { maxOutputTokens: 0 } }, 'invalid_input', /max_output_tokens/],
    [{ settings: { colour: 'red' } }, 'invalid_input', /colour/],
    [{ settings: 7 }, 'invalid_input', /settings/],
    [{ headers: { 'bad header': 'x' } }, 'invalid_input', /headers/],
    [{ headers: { ok: 'a\r\nInjected: yes' } }, 'invalid_input', /headers/],
    [{ streaming: 'no' }, 'invalid_input', /streaming/],
    [{ idleTimeoutMs: -1 }, 'invalid_input', /idleTimeoutMs/],
    [{ toolTimeoutMs: 0 }, 'invalid_input', /toolTimeoutMs/],
    [{ maxIterations: 1.5 }, 'invalid_input', /maxIterations/],
    [{ requestTransformer: 'nope' }, 'invalid_request_transformer', /"nope"/],
  ])('with %j is rejected, and nothing is written', async (wrong, code, message) => {
    const options = { agent: 'a', input: 'x', threadId: 'refused', createThread: true, ...wrong } as EnqueueOptions;
    await expect(lanefold.runs.enqueue(options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    await expect(lanefold.threads.get('refused')).rejects.toMatchObject({ code: 'thread_not_found' });
  });
});
