// @module-tag slow
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { entriesOf, eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { startModelServer, type ModelServer, type Reply } from '../support/openai-server.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

const add = defineTool({
  name: 'add',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

const failed = (status: number, message: string, retryInfo?: string): Reply => ({
  status,
  ...(retryInfo ? {} : { headers: { 'retry-after-ms': '5' } }),
  body: {
    type: 'error',
    error: {
      code: status,
      type: 'some_error',
      status: 'SOME_ERROR',
      message,
      ...(retryInfo
        ? { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: retryInfo }] }
        : {}),
    },
  },
});

describe.each([
  ['OpenAI', 'openai:test-model', undefined],
  ['Anthropic', 'anthropic:claude-sonnet-4-5', undefined],
  ['Google', 'google:gemini-3-pro', '0.005s'],
])('a run with a model of %s over HTTP', (_, model, retryInfo) => {
  let server: ModelServer;
  let lanefold: Runtime;
  beforeAll(async () => {
    server = await startModelServer();
    for (const [name, value] of [
      ['OPENAI', 'test'],
      ['ANTHROPIC', 'test'],
      ['GOOGLE_GENERATIVE_AI', 'test'],
    ]) {
      vi.stubEnv(`${name}_BASE_URL`, server.url);
      vi.stubEnv(`${name}_API_KEY`, value!);
    }
    lanefold = await startRuntime([defineAgent({ name: 'calc', model, instructions: 'Calculate.', tools: [add] })]);
  });
  afterAll(async () => {
    await lanefold?.close();
    await server?.close();
    vi.unstubAllEnvs();
  });

  test('waits out a rate limit, runs a tool, counts the tokens and answers', async () => {
    server.reply(
      failed(429, 'slow down', retryInfo),
      { text: 'Adding.', toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a":1,"b":2}' }], usage: [10, 5] },
      { text: 'It is 3.', usage: [20, 7] },
    );
    const { threadId, run } = await lanefold.run({ agent: 'calc', input: '1+2?' });
    expect(run).toMatchObject({ status: 'completed', result: 'It is 3.', iteration: 2 });
    expect(run.usage).toMatchObject({ input_tokens: 30, output_tokens: 12, total_tokens: 42 });
    expect((await entriesOf(lanefold, threadId)).map((e) => [e.role, e.payload['content']])).toEqual([
      [null, undefined],
      ['user', '1+2?'],
      ['assistant', 'Adding.'],
      ['tool', '{"sum":3}'],
      ['assistant', 'It is 3.'],
    ]);
    expect(await ledgerOf(lanefold, threadId)).toMatchObject([{ name: 'add', status: 'ok', attempts: 1 }]);
    const retries = (await eventsOf(lanefold, threadId)).filter((event) => event.kind === 'llm_retry');
    expect(retries.map((event) => event.data)).toMatchObject([{ attempt: 1, delay_ms: 5 }]);
    expect(JSON.stringify(server.requests.at(-1)!.body)).toContain('sum');
    await expectSound(lanefold, threadId);
  });

  test('fails immediately if the provider rejects the request', async () => {
    const before = server.requests.length;
    server.reply(failed(400, 'no such parameter', retryInfo));
    const { threadId, run } = await lanefold.run({ agent: 'calc', input: 'hi' });
    expect(run).toMatchObject({
      status: 'failed',
      error: { type: 'llm_request', message: 'no such parameter (HTTP 400)' },
    });
    expect(server.requests.length - before).toBe(1);
    await expectSound(lanefold, threadId);
  });
});
