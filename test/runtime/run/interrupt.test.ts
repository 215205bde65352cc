import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, expectSound, ledgerOf } from '../../support/log.ts';
import { startModelServer, type ModelServer } from '../../support/openai-server.ts';
import { until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const deaf = defineTool({ name: 'deaf', input: z.object({}), execute: () => new Promise(() => {}) });
const quick = defineTool({ name: 'quick', input: z.object({}), execute: () => 'quick result' });

describe('an interrupt', () => {
  let lanefold: Runtime;
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
    const provider = createOpenAICompatible({ name: 'wire', baseURL: server.url });
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools: [deaf, quick] })], {
      models: { wire: (id: string) => provider(id) },
    });
  });
  afterAll(async () => {
    await lanefold?.close();
    await server?.close();
  });

  const interrupt = (threadId: string, input: string) =>
    lanefold.runs.enqueue({ agent: 'a', model: unset, input, threadId, busy: 'interrupt' });

  test('aborts a streaming model and starts once that run has ended, ahead of waiting runs', async () => {
    server.reply({ text: 'a long story', fragments: 6, hangAfter: 3 });
    const run = await lanefold.runs.enqueue({ agent: 'a', model: 'wire:m', input: 'tell me a story' });
    const request = await until('the model streams', () => server.requests[0]);
    let read = '';
    for await (const item of lanefold.runs.stream(run)) {
      if ('text' in item) read += item.text;
      if (read === 'a lo') break;
    }
    const waiting = await lanefold.runs.enqueue({
      agent: 'a',
      input: 'and then',
      threadId: run.threadId,
      busy: 'wait',
    });
    const next = await interrupt(run.threadId, 'stop that');
    expect(await lanefold.runs.wait(next)).toMatchObject({ status: 'completed', result: 'stop that' });
    await request.closed;
    expect(await lanefold.runs.get(run)).toMatchObject({
      status: 'cancelled',
      error: { type: 'cancelled', message: 'interrupted' },
    });
    await lanefold.runs.wait(waiting);
    expect((await contextOf(lanefold, run.threadId)).map(([, content]) => content)).toEqual([
      'tell me a story',
      'a lo',
      'stop that',
      'stop that',
      'and then',
      'and then',
    ]);
    await expectSound(lanefold, run.threadId);
  });

  test('closes an open tool group with the stored outcomes before it adds its own message', async () => {
    const model = lanefold.model([{ calls: [{ name: 'deaf' }, { name: 'quick' }] }]);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'work' });
    await until('one outcome is stored', async () =>
      (await ledgerOf(lanefold, run.threadId)).some((row) => row.status === 'ok'),
    );
    await lanefold.runs.wait(await interrupt(run.threadId, 'never mind'));
    const context = await contextOf(lanefold, run.threadId);
    expect(context.map(([role]) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user', 'assistant']);
    expect(JSON.parse(context[2]![1] as string)).toMatchObject({ ok: false, error: { type: 'cancelled' } });
    expect(context[3]).toEqual(['tool', 'quick result']);
    await expectSound(lanefold, run.threadId);
  });

  test('supersedes an earlier interrupt that has not started', async () => {
    const model = lanefold.model(() => new Promise(() => {}));
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'first' });
    await until('the model is called', () => model.calls.length === 1);
    // in one transaction, so that no worker can claim the second run in between
    const client = await lanefold.database.pool.connect();
    await client.query('begin');
    const tx = { tx: client };
    const options = { agent: 'a', threadId: run.threadId, busy: 'interrupt' as const };
    const second = await lanefold.runs.enqueue({ ...options, input: 'second' }, tx);
    const third = await lanefold.runs.enqueue({ ...options, input: 'third', requestId: 'req-3' }, tx);
    await client.query('commit');
    client.release();
    expect(await lanefold.runs.wait(third)).toMatchObject({ status: 'completed', result: 'third' });
    expect(await lanefold.runs.get(second)).toMatchObject({
      status: 'cancelled',
      startedAt: null,
      error: { message: 'superseded' },
    });
    const again = await lanefold.runs.enqueue({ ...options, input: 'third', requestId: 'req-3' });
    expect(again).toMatchObject({ id: third.id, duplicate: true, status: 'completed' });
    expect((await contextOf(lanefold, run.threadId)).map(([, content]) => content)).toEqual([
      'first',
      'third',
      'third',
    ]);
    await expectSound(lanefold, run.threadId);
  });
});
