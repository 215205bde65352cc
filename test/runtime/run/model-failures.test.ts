import { APICallError } from '@ai-sdk/provider';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, entriesOf, eventsOf, expectSound } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const httpError = (statusCode: number, headers: Record<string, string> = {}) =>
  new APICallError({
    message: `HTTP ${statusCode}`,
    url: 'http://x',
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
  });
const immediately = { 'retry-after-ms': '0' };

describe('a failing model', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen' });
    lanefold = await startRuntime([
      defineAgent({ name: 'a', model: unset, tools: [look], maxModelRetries: 2 }),
      defineAgent({ name: 'impatient', model: unset, idleTimeoutMs: 30 }),
    ]);
  });
  afterAll(() => lanefold?.close());

  test('is retried after 429 and 500 until it answers, with an event for each retry', async () => {
    const model = lanefold.model((_, n) =>
      n < 2 ? httpError([429, 500][n]!, { 'retry-after-ms': String(7 + n) }) : { text: 'hello' },
    );
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'hi' });
    expect(run).toMatchObject({ status: 'completed', result: 'hello', iteration: 1 });
    const events = await eventsOf(lanefold, threadId);
    expect(events.map((event) => event.kind)).toEqual([
      'request_started',
      'llm_started',
      'llm_retry',
      'llm_started',
      'llm_retry',
      'llm_started',
      'llm_completed',
      'checkpoint',
      'request_completed',
      'checkpoint',
    ]);
    expect(events.filter((event) => event.kind === 'llm_retry').map((event) => event.data)).toMatchObject([
      { attempt: 1, delay_ms: 7, error: { type: 'llm_request', message: expect.stringContaining('429') } },
      { attempt: 2, delay_ms: 8, error: { message: expect.stringContaining('500') } },
    ]);
    expect(new Set(model.calls.map((call) => JSON.stringify(call.prompt))).size).toBe(1);
    await expectSound(lanefold, threadId);
  });

  test('fails the run once retries run out, and the lane stays usable', async () => {
    const model = lanefold.model(() => httpError(503, immediately));
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'hi' });
    expect(run).toMatchObject({
      status: 'failed',
      terminationReason: 'error',
      error: { type: 'llm_request' },
      result: null,
    });
    expect(model.calls).toHaveLength(3);
    const next = await lanefold.run({ agent: 'a', model: 'scripted:["better"]', input: 'again', threadId });
    expect(next.run).toMatchObject({ status: 'completed', result: 'better' });
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['user', 'hi'],
      ['user', 'again'],
      ['assistant', 'better'],
    ]);
    await expectSound(lanefold, threadId);
  });

  test('fails the run immediately on a permanent error; usage and tool results are kept', async () => {
    const model = lanefold.model((_, n) => (n === 0 ? { calls: [{ name: 'look' }] } : httpError(400)));
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'hi' });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'llm_request' }, usage: { total_tokens: 15 } });
    expect(model.calls).toHaveLength(2);
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['user', 'hi'],
      ['assistant', ''],
      ['tool', 'seen'],
    ]);
    const [failed, checkpoint] = (await eventsOf(lanefold, threadId)).slice(-2);
    expect(failed).toMatchObject({
      kind: 'request_failed',
      data: { error_type: 'llm_request', usage: { total_tokens: 15 } },
    });
    expect(checkpoint).toMatchObject({ kind: 'checkpoint', data: { reason: 'terminal' } });
    await expectSound(lanefold, threadId);
  });

  test('restores the lane to its state before the run if onFailure is rewind', async () => {
    const { threadId } = await lanefold.run({ agent: 'a', model: 'scripted:["one"]', input: 'first' });
    const model = lanefold.model((_, n) => (n === 0 ? { calls: [{ name: 'look' }] } : httpError(400)));
    const { id } = await lanefold.run({ agent: 'a', model: model.id, input: 'second', threadId, onFailure: 'rewind' });
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['user', 'first'],
      ['assistant', 'one'],
    ]);
    expect((await entriesOf(lanefold, threadId)).at(-1)).toMatchObject({
      kind: 'ai_context_operation',
      payload: { operation: { type: 'replace', reason: 'restore', meta: { run_id: id } } },
    });
    const next = lanefold.model([{ text: 'three' }]);
    await lanefold.run({ agent: 'a', model: next.id, input: 'third', threadId });
    expect(next.calls[0]!.prompt.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
    await expectSound(lanefold, threadId);
  });

  test('fails the run with llm_response on a blank turn, which counts as usage but stays out of the context', async () => {
    const model = lanefold.model([{ text: ' ', finishReason: 'length' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'hi' });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'llm_response' }, usage: { total_tokens: 15 } });
    expect(await contextOf(lanefold, threadId)).toEqual([['user', 'hi']]);
    expect((await eventsOf(lanefold, threadId)).map((event) => event.kind)).not.toContain('llm_completed');
  });

  test('fails the run with timeout, without a retry, if it sends nothing', async () => {
    const model = lanefold.model(() => new Promise(() => {}));
    const { run } = await lanefold.run({ agent: 'impatient', model: model.id, input: 'hi' });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'timeout' } });
    expect(model.calls).toHaveLength(1);
  });

  test('fails the run with a cleaned message if its error has text the database cannot store', async () => {
    const model = lanefold.model(() => new Error('bad \u0000 byte \ud800'));
    const { run } = await lanefold.run({ agent: 'a', model: model.id, input: 'hi' });
    expect(run).toMatchObject({ status: 'failed', error: { message: 'bad \ufffd byte \ufffd' } });
  });
});
