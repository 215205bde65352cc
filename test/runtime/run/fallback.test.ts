import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noRedis } from '../../support/lanefold.ts';
import { contextOf, entriesOf, eventsOf, expectSound } from '../../support/log.ts';
import { readStream } from '../../support/read-stream.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const httpError = (statusCode: number, headers: Record<string, string> = {}, data?: object) =>
  new APICallError({
    message: `HTTP ${statusCode}`,
    url: 'http://x',
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
    data,
  });

/** A model that sends these parts, then fails with `error` inside of its stream of status 200, or falls silent without one. */
const breaking = (parts: LanguageModelV4StreamPart[], error?: object): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'breaking',
  modelId: 'breaking',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('only streams')),
  doStream: () =>
    Promise.resolve({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          if (error) controller.enqueue({ type: 'error', error });
        },
      }),
    }),
});

const half: LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'The answer is forty' },
];

describe.skipIf(noRedis())('a chain of models', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen' });
    lanefold = await startRuntime(
      [
        defineAgent({ name: 'a', model: unset, tools: [look], maxModelRetries: 2, overridable: ['model'] }),
        defineAgent({ name: 'listed', model: ['dead:1', 'scripted:["from the list"]'] }),
        defineAgent({
          name: 'object',
          model: unset,
          output: { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
        }),
      ],
      {
        models: {
          dead: breaking([], { type: 'overloaded_error', message: 'Overloaded' }),
          half: breaking(half, { type: 'overloaded_error', message: 'Overloaded' }),
          silent: breaking([{ type: 'stream-start', warnings: [] }]),
          stuck: breaking(half),
        },
        contextWindows: { small: 1_000 },
      },
    );
  });
  afterAll(() => lanefold?.close());

  const retries = async (threadId: string) =>
    (await eventsOf(lanefold, threadId)).filter(({ kind }) => kind === 'llm_retry').map(({ data }) => data);
  const answerOf = async (threadId: string) =>
    (await entriesOf(lanefold, threadId)).findLast(({ role }) => role === 'assistant')!;

  test('of an agent: an error inside of a stream has the next model answer at once, and the answer names it', async () => {
    const { threadId, run } = await lanefold.run({ agent: 'listed', input: 'hi' });
    expect(run).toMatchObject({ status: 'completed', result: 'from the list', model: 'dead:1' });
    const events = await eventsOf(lanefold, threadId);
    expect(events.map(({ kind }) => kind).slice(0, 5)).toEqual([
      'request_started',
      'llm_started',
      'llm_retry',
      'llm_started',
      'llm_completed',
    ]);
    expect(await retries(threadId)).toMatchObject([
      { model: 'dead:1', next_model: 'scripted:["from the list"]', reason: 'overloaded', delay_ms: 0 },
    ]);
    const { refs } = await answerOf(threadId);
    expect(refs).toMatchObject({ model: 'scripted:["from the list"]', fallback: true });
    const call = await lanefold.contexts.call(threadId, refs!['llm_call_id'] as string);
    expect(call).toMatchObject({ model: 'scripted:["from the list"]', verified: true });
    expect(call.failedAttempts).toMatchObject([{ data: { model: 'dead:1' } }]);
    expect(call.prefixBreak).toBeNull();
    await expectSound(lanefold, threadId);
  });

  test('what a model wrote before its stream broke is withdrawn from readers, kept in the trace, and paid for', async () => {
    const next = lanefold.model([{ text: 'It is 42.', usage: [100, 7] }]);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: ['half:1', next.id], input: 'hi' });
    const reader = readStream(lanefold.runs.stream(run));
    const ended = await lanefold.runs.wait(run);
    await reader.ended;
    expect(ended.result).toBe('It is 42.');
    expect(reader.answer()).not.toContain('forty');
    expect(await retries(run.threadId)).toMatchObject([
      { model: 'half:1', written: { text: 'The answer is forty', thinking: '' } },
    ]);
    expect(ended.usage!.input_tokens).toBeGreaterThan(100);
    expect(ended.usage!.estimated_tokens).toBeGreaterThan(0);
    expect(ended.otherUsage).toEqual({
      [next.id]: { input_tokens: 100, output_tokens: 7, total_tokens: 107, calls: 1 },
    });
    expect(await contextOf(lanefold, run.threadId)).toEqual([
      ['user', 'hi'],
      ['assistant', 'It is 42.'],
    ]);
  });

  test.each([
    ['has not begun within firstTokenMs', 'silent:1', { firstTokenMs: 20 }, 'has not begun its answer'],
    ['has not ended within attemptMs', 'stuck:1', { attemptMs: 20 }, 'has not ended its answer'],
  ])('a model that %s is left for the next one', async (_, first, limits, why) => {
    const next = lanefold.model([{ text: 'here' }]);
    const { threadId, run } = await lanefold.run({
      agent: 'a',
      model: { try: [first, next.id], ...limits },
      input: 'hi',
    });
    expect(run.result).toBe('here');
    const error = { type: 'timeout', message: expect.stringContaining(why) };
    expect(await retries(threadId)).toMatchObject([{ reason: 'timeout', error, model: first }]);
  });

  test.each([
    ['auth', httpError(401)],
    ['auth', httpError(429, {}, { error: { code: 'insufficient_quota', message: 'No money.' } })],
    ['rate_limited', httpError(429, { 'retry-after': '55' })],
    ['overloaded', httpError(529)],
    ['overloaded', Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })],
  ] as const)('%s: the next model answers, without the wait that the first asked for', async (reason, error) => {
    const [first, next] = [lanefold.model(() => error), lanefold.model([{ text: 'here' }])];
    const { threadId, run } = await lanefold.run({ agent: 'a', model: [first.id, next.id], input: 'hi' });
    expect(run).toMatchObject({ status: 'completed', result: 'here' });
    expect(first.calls).toHaveLength(1);
    expect(await retries(threadId)).toMatchObject([{ reason, delay_ms: 0 }]);
  });

  test('a request that only the provider of the first model refuses for what it says is not passed on', async () => {
    const [first, next] = [lanefold.model(() => httpError(400)), lanefold.model([{ text: 'here' }])];
    const { run } = await lanefold.run({ agent: 'a', model: [first.id, next.id], input: 'hi' });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'llm_request' } });
    expect(next.calls).toHaveLength(0);
  });

  test('once the chain is through, its first model is asked again', async () => {
    const immediately = { 'retry-after-ms': '5' };
    const first = lanefold.model((_, n) => (n === 0 ? httpError(503, immediately) : { text: 'back' }));
    const next = lanefold.model(() => httpError(503, immediately));
    const { threadId, run } = await lanefold.run({ agent: 'a', model: [first.id, next.id], input: 'hi' });
    expect(run).toMatchObject({ status: 'completed', result: 'back' });
    expect(await retries(threadId)).toMatchObject([
      { attempt: 1, delay_ms: 0 },
      { attempt: 1, delay_ms: 5, next_model: first.id },
    ]);
    expect((await answerOf(threadId)).refs).not.toHaveProperty('fallback');
  });

  test.each([
    ['run', 2],
    ['thread', 1],
    [false, 4],
  ] as const)(
    'sticky %s: the first model, which is down, is asked %i times in two runs with two calls each',
    async (sticky, times) => {
      const down = lanefold.model(() => httpError(503));
      const up = lanefold.model((_, n) => (n % 2 === 0 ? { calls: [{ name: 'look' }] } : { text: 'done' }));
      const model = { try: [down.id, up.id], sticky };
      const { threadId } = await lanefold.run({ agent: 'a', model, input: 'hi' });
      await lanefold.run({ agent: 'a', model, threadId, input: 'again' });
      expect(down.calls).toHaveLength(times);
      expect(up.calls).toHaveLength(4);
      await expectSound(lanefold, threadId);
    },
  );

  test('the switch to another model explains what the cache of the provider missed', async () => {
    const first = lanefold.model((_, n) => (n === 0 ? { calls: [{ name: 'look' }] } : httpError(503)));
    const next = lanefold.model([{ text: 'done' }]);
    const { threadId, id } = await lanefold.run({ agent: 'a', model: [first.id, next.id], input: 'hi' });
    const { refs } = await answerOf(threadId);
    const call = await lanefold.contexts.call(threadId, refs!['llm_call_id'] as string);
    expect(call.prefixBreak).toMatchObject({ position: 0, cause: 'fallback' });
    const { rows } = await lanefold.database.pool.query<{ kind: string; data: object }>(
      `select kind, data from lanefold.run_marks($1, array[$2]) where kind in ('cache_missed', 'model_fell_back', 'model_overridden') order by kind`,
      [threadId, id],
    );
    // the request named another model than that of the agent, and that is another fact
    expect(rows).toMatchObject([
      { kind: 'cache_missed', data: { cause: 'fallback' } },
      { kind: 'model_fell_back', data: { model: next.id, instead_of: first.id } },
      { kind: 'model_overridden', data: { instead_of: unset } },
    ]);
  });

  test('an answer of a model that stands in meets the contract of the agent', async () => {
    const next = lanefold.model([{ text: '{"city": "Oslo"}' }]);
    const { run } = await lanefold.run({ agent: 'object', model: ['dead:1', next.id], input: 'where?' });
    expect(run).toMatchObject({ status: 'completed', result: { city: 'Oslo' } });
  });

  test('a limit without room passes a call on, if the chain names it; the run waits otherwise', async () => {
    const [first, next] = [lanefold.model([{ text: 'first' }]), lanefold.model([{ text: 'next' }])];
    await lanefold.limits.set('first', {
      kind: 'requests',
      amount: 1,
      per: 'day',
      scope: { model: first.id },
    });
    const model = { try: [first.id, next.id], on: ['limit' as const] };
    expect((await lanefold.run({ agent: 'a', model, input: 'hi' })).run.result).toBe('first');
    const { threadId, run } = await lanefold.run({ agent: 'a', model, input: 'hi' });
    expect(run.result).toBe('next');
    expect(await retries(threadId)).toMatchObject([{ reason: 'limit', error: { type: 'limit' } }]);
  });

  test('a repetition of a run asks the same chain, and a retry with another model asks that model alone', async () => {
    const next = lanefold.model([{ text: 'here' }]);
    const first = await lanefold.run({ agent: 'a', model: ['dead:1', next.id], input: 'hi' });
    const again = await lanefold.runs.retry(first);
    expect((await lanefold.runs.wait(again)).result).toBe('here');
    const other = lanefold.model([{ text: 'other' }]);
    const alone = await lanefold.runs.wait(await lanefold.runs.retry(first, { model: other.id }));
    expect(alone).toMatchObject({ result: 'other', model: other.id });
  });

  test.each([
    ['an empty list', [], 'must list 1 to 8 models'],
    ['the same model twice', ['dead:1', 'dead:1'], 'twice'],
    ['a reason that does not exist', { try: ['dead:1'], on: ['slow'] }, 'overloaded'],
    ['no time at all', { try: ['dead:1'], firstTokenMs: 0 }, 'firstTokenMs'],
    ['a key with a typo', { try: ['dead:1'], attemptsMs: 5 }, 'attemptsMs'],
  ])('%s is refused, and nothing is written', async (_, model, says) => {
    await expect(
      lanefold.runs.enqueue({
        agent: 'a',
        model: model as never,
        input: 'hi',
        threadId: 'refused',
        createThread: true,
      }),
    ).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(says) });
    await expect(lanefold.threads.get('refused')).rejects.toMatchObject({ code: 'thread_not_found' });
    expect(() => defineAgent({ name: 'x', model: model as never })).toThrow(says);
  });
});
