// @module-tag slow
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createLanefold, defineAgent, defineTool, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startModelServer, type ModelServer, type RecordedRequest, type Reply } from '../../support/openai-server.ts';

import { contextOf, entriesOf, eventsOf } from '../../support/log.ts';
import { startRuntime, type Runtime } from '../helpers.ts';

/** About 100 tokens, for us and for the server. */
const long = (n: number) => `${n} ${'word '.repeat(80)}`;

const tokensOf = ({ body }: RecordedRequest): number => Math.ceil(JSON.stringify(body.messages).length / 4);
const windowOfServer = 2_000;

const look = defineTool({ name: 'look', input: z.object({}), execute: () => long(0) });

/** How servers word their refusal. */
type Words = (asked: number) => unknown;
const vllm: Words = (asked) => ({
  error: {
    message: `This model's maximum context length is ${windowOfServer} tokens. However, your request has ${asked} input tokens. Please reduce the length of the input messages.`,
    type: 'BadRequestError',
    code: 400,
  },
});
const llamaCpp: Words = (asked) => ({
  error: {
    code: 400,
    message: 'the request exceeds the available context size, try increasing it',
    type: 'exceed_context_size_error',
    n_prompt_tokens: asked,
    n_ctx: windowOfServer,
  },
});
const silent: Words = () => ({ error: { message: 'Too long.', code: 'context_length_exceeded' } });

/** A server that refuses what is too long for it. */
const strict =
  (words: Words, reply: Reply = { text: 'ok' }) =>
  (request: RecordedRequest): Reply =>
    tokensOf(request) > windowOfServer ? { status: 400, body: words(tokensOf(request)) } : reply;

describe('a model whose window is unknown refuses a request as too long', () => {
  let server: ModelServer;
  let lanefold: Runtime;
  beforeAll(async () => {
    server = await startModelServer();
    lanefold = await startRuntime(
      [
        defineAgent({ name: 'a', model: 'local:m' }),
        defineAgent({ name: 'once', model: 'local:m', maxModelRetries: 0 }),
        defineAgent({ name: 'looks', model: 'local:m', tools: [look], cycleWarning: false, maxIterations: 40 }),
        defineAgent({ name: 'whole', model: 'local:m', streaming: false }),
        defineAgent({
          name: 'sums',
          model: 'local:m',
          contextPolicy: { summarization: 'request_new', keepLastTurns: 1 },
        }),
        defineAgent({
          name: 'tree',
          model: 'local:m',
          strategy: 'trm',
          strategyOptions: { history: true, maxSupervisionSteps: 1 },
        }),
      ],
      { models: { local: createOpenAICompatible({ name: 'local', baseURL: server.url, includeUsage: true }) } },
    );
  });
  afterAll(async () => {
    await lanefold?.close();
    await server?.close();
  });
  beforeEach(() => {
    server.clear();
    server.requests.splice(0);
  });

  const serve = (words: Words, reply?: Reply) =>
    server.reply(...Array.from({ length: 40 }, () => strict(words, reply)));

  /** Every answer of a run is on a request that the log returns as it was sent. */
  async function expectVerified(threadId: string): Promise<void> {
    const calls = (await entriesOf(lanefold, threadId)).flatMap(({ refs }) => refs?.llm_call_id ?? []);
    for (const id of calls) {
      // one query each: in a distributed database no query over entries may call a function that reads them
      const { rows } = await lanefold.database.pool.query('select lanefold.verify_call($1, $2) as verified', [
        threadId,
        id,
      ]);
      expect(rows).toEqual([{ verified: true }]);
    }
  }

  /** A thread with 30 turns of 100 tokens each. */
  async function longThread(): Promise<string> {
    const { id } = await lanefold.threads.create();
    const turns = Array.from({ length: 30 }, (_, n) => [
      { role: 'user' as const, content: `question ${long(n)}` },
      { role: 'assistant' as const, content: `answer ${n}` },
    ]);
    await lanefold.threads.append(id, turns.flat().map((payload) => ({ kind: 'ai_message', payload })) as never);
    return id;
  }

  describe.each([
    ['vLLM', vllm],
    ['llama.cpp', llamaCpp],
    ['a server that says no numbers', silent],
  ])('%s', (_, words) => {
    test.each(['a', 'once', 'whole'])(
      '%s: cuts the context, calls once more, and goes by it from then on',
      async (agent) => {
        const threadId = await longThread();
        serve(words);
        const { run } = await lanefold.run({ agent, input: 'Now?', threadId });
        expect(run).toMatchObject({ status: 'completed', result: 'ok' });
        expect(server.requests.map((request) => tokensOf(request) > windowOfServer)).toEqual([true, false]);
        expect(server.requests[1]!.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'Now?' });
        const events = await eventsOf(lanefold, threadId);
        expect(events.map(({ kind }) => kind)).toEqual([
          'request_started',
          'llm_started',
          'llm_retry',
          'llm_started',
          'llm_completed',
          'checkpoint',
          'request_completed',
          'checkpoint',
        ]);
        const retry = events.find(({ kind }) => kind === 'llm_retry')!.data;
        expect(retry).toMatchObject({ delay_ms: 0, error: { type: 'context_too_long' }, room: { model: 'local:m' } });
        const { refs } = (await entriesOf(lanefold, threadId)).at(-1)!;
        expect(refs).toMatchObject({
          dropped: [expect.any(Array)],
          policy_marks: ['learnt_window'],
          room: retry['room'],
        });
        if (words !== silent) expect(refs).toMatchObject({ room: { window: windowOfServer } });
        await expectVerified(threadId);

        const next = await lanefold.run({ agent, input: 'And now?', threadId });
        expect(next.run).toMatchObject({ status: 'completed', result: 'ok' });
        expect(server.requests).toHaveLength(3);
        expect(server.requests[2]!.body.messages.at(-1)).toMatchObject({ content: 'And now?' });
        await expectVerified(threadId);
      },
    );
  });

  test('a configured window takes precedence over what a lane has learnt', async () => {
    const threadId = await longThread();
    serve(vllm);
    await lanefold.run({ agent: 'a', input: 'Now?', threadId });
    const other = await createLanefold({ ...lanefold.options, contextWindows: { local: 1_000 } });
    const shown = await other.contexts.project(threadId, { agent: 'a', explain: true });
    expect(shown.meta).toMatchObject({ window: 1_000, budget: 875 });
    await other.close();
    const learnt = await lanefold.contexts.project(threadId, { agent: 'a', explain: true });
    expect(learnt.meta.budget).toBeLessThan(windowOfServer);
    expect(learnt.meta.entries_included).toBeLessThan(learnt.meta.entries_total);
  });

  test.each([
    ['the newest message', { input: long(1).repeat(30), prompt: null }],
    ['the system prompt', { input: 'Now?', prompt: long(1).repeat(30) }],
  ])('%s alone is too long: the run fails at once, and says what to do', async (_, { input, prompt }) => {
    const threadId = await longThread();
    if (prompt) await lanefold.threads.configure(threadId, { systemPrompt: prompt });
    serve(vllm);
    const { run } = await lanefold.run({ agent: 'a', input, threadId });
    expect(run).toMatchObject({ status: 'failed', terminationReason: 'error', error: { type: 'context_too_long' } });
    expect(run.error!.message).toContain('maximum context length is 2000');
    expect(run.error!.message).toContain('Shorten');
    expect(server.requests).toHaveLength(1);
    await expectVerified(threadId);
    const { run: next } = await lanefold.run({
      agent: 'a',
      input: 'Better?',
      threadId: (await lanefold.threads.create()).id,
    });
    expect(next.status).toBe('completed');
  });

  test('a server that refuses everything is called twice', async () => {
    const threadId = await longThread();
    server.reply(...Array.from({ length: 9 }, () => ({ status: 413, body: 'Request Entity Too Large' })));
    const { run } = await lanefold.run({ agent: 'a', input: 'Now?', threadId });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'context_too_long' } });
    expect(server.requests).toHaveLength(2);
    await expectVerified(threadId);
  });

  test('a worker that goes between refusal and second call changes nothing', async () => {
    const threadId = await longThread();
    server.reply(strict(vllm), { hang: true });
    const run: RunHandle = await lanefold.runs.enqueue({ agent: 'a', input: 'Now?', threadId });
    await server.nextRequest();
    if (server.requests.length < 2) await server.nextRequest();
    serve(vllm);
    await lanefold.worker.stop({ graceMs: 0 });
    lanefold.worker = await lanefold.startWorker();
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'ok' });
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]!.body.messages).toEqual(server.requests[1]!.body.messages);
    const kinds = (await eventsOf(lanefold, threadId)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'llm_retry')).toHaveLength(1);
    expect(kinds).toContain('llm_lost');
    await expectVerified(threadId);
  });

  test('a policy that wants a summary gets one', async () => {
    const threadId = await longThread();
    serve(vllm);
    const { run } = await lanefold.run({ agent: 'sums', input: 'Now?', threadId });
    expect(run).toMatchObject({ status: 'completed', result: 'ok' });
    const kinds = (await eventsOf(lanefold, threadId)).map(({ kind }) => kind);
    expect(kinds).toContain('compaction_completed');
    expect((await contextOf(lanefold, threadId)).length).toBeLessThan(20);
    expect(server.requests.filter((request) => tokensOf(request) > windowOfServer)).toHaveLength(1);
    await expectVerified(threadId);
  });

  test('contexts.compact works', async () => {
    const threadId = await longThread();
    serve(vllm, { text: 'A short summary.' });
    const run = await lanefold.runs.wait(await lanefold.contexts.compact(threadId, { agent: 'a' }));
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'compacted' });
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(await contextOf(lanefold, threadId))).toContain('A short summary.');
    await expectVerified(threadId);
  });

  test('a strategy that asks questions about the lane continues', async () => {
    const threadId = await longThread();
    serve(vllm);
    const { run } = await lanefold.run({ agent: 'tree', input: 'Now?', threadId });
    expect(run.error).toBeNull();
    expect(run.status).toBe('completed');
    const [first, ...others] = server.requests.map((request) => tokensOf(request) > windowOfServer);
    expect([first, others.length > 0, others.includes(true)]).toEqual([true, true, false]);
  });

  test('a context that outgrows the window within a run is cut, and the cut moves with it', async () => {
    const calls = Array.from({ length: 60 }, (_, n) => ({
      toolCalls: [{ id: `c${n}`, name: 'look', arguments: '{}' }],
    }));
    server.reply(...calls.map((reply) => strict(vllm, reply)));
    const { threadId, run } = await lanefold.run({ agent: 'looks', input: 'Look around.' });
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'max_iterations', iteration: 41 });
    expect(server.requests.filter((request) => tokensOf(request) > windowOfServer)).toHaveLength(1);
    expect(server.requests).toHaveLength(41);
    for (const { body } of server.requests) expect(body.messages[0]).toMatchObject({ content: 'Look around.' });
    await expectVerified(threadId);
  });
});
