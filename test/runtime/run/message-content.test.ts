import { defineAgent, defineTool, type ContentInput, type ImagePart } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, entriesOf, eventsOf, expectSound } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import { startRuntime, type Runtime } from '../helpers.ts';

describe('the input of a run', () => {
  let lanefold: Runtime;
  const seen: unknown[] = [];
  beforeAll(async () => {
    const spy = defineTool({ name: 'spy', input: z.object({}), execute: (_, ctx) => void seen.push(ctx) });
    lanefold = await startRuntime([
      defineAgent({
        name: 'a',
        model: 'scripted:["by default"]',
        tools: [spy],
        toolContext: { user: 'u', plan: 'free' },
      }),
    ]);
  });
  afterAll(() => lanefold?.close());

  test('may have several parts, which are stored and sent unchanged', async () => {
    const image = 'iVBORw0KGgo=';
    const input = [
      { type: 'text', text: 'What is this?' },
      { type: 'file', media_type: 'image/png', data: image, filename: 'it.png' },
    ];
    const model = lanefold.model([{ text: 'A dot.' }]);
    const { threadId } = await lanefold.run({ agent: 'a', model: model.id, input, extraRefs: { channel: 'web' } });
    expect((await contextOf(lanefold, threadId))[0]).toEqual(['user', input]);
    expect((await entriesOf(lanefold, threadId))[0]!.refs).toEqual({ channel: 'web' });
    expect(model.calls[0]!.prompt[0]).toMatchObject({
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: image }, filename: 'it.png' },
      ],
    });
    await expectSound(lanefold, threadId);
  });

  test('may have images as OpenAI and the AI SDK have them, wherever messages come in', async () => {
    const dot = 'iVBORw0KGgo=';
    const url = 'https://example.com/dot.png';
    const stored = [
      { type: 'file', media_type: 'image/png', data: dot },
      { type: 'file', media_type: 'image/png', url, provider_metadata: { openai: { imageDetail: 'low' } } },
    ];
    const openAi: ContentInput = [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${dot}` } },
      { type: 'image_url', image_url: { url, detail: 'low' } },
    ];
    const bytes: ImagePart = { type: 'image', image: Buffer.from(dot, 'base64'), mediaType: 'image/png' };
    const { id } = await lanefold.threads.create();
    await lanefold.contexts.replace(id, { entries: [{ role: 'user', content: openAi }] });
    await lanefold.threads.append(id, [{ message: { role: 'user', content: [bytes] } }]);
    const model = lanefold.model([{ text: 'Dots.' }]);
    await lanefold.run({ agent: 'a', model: model.id, threadId: id, input: [{ type: 'text', text: 'And?' }, bytes] });
    const asked = [{ type: 'text', text: 'And?' }, stored[0]];
    expect((await contextOf(lanefold, id)).slice(0, 3)).toEqual([
      ['user', stored],
      ['user', [stored[0]]],
      ['user', asked],
    ]);
    const inline = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: dot } };
    expect(model.calls[0]!.prompt).toMatchObject([
      {
        content: [
          inline,
          { data: { type: 'url', url: new URL(url) }, providerOptions: { openai: { imageDetail: 'low' } } },
        ],
      },
      { content: [inline] },
      { content: [{ type: 'text', text: 'And?' }, inline] },
    ]);
    await expectSound(lanefold, id);
  });

  test('may override the agent’s model', async () => {
    expect((await lanefold.run({ agent: 'a', input: 'hi' })).run).toMatchObject({ result: 'by default' });
    const other = await lanefold.run({ agent: 'a', model: 'scripted:["by request"]', input: 'hi' });
    expect(other.run).toMatchObject({ result: 'by request', model: 'scripted:["by request"]' });
    const [, started] = await eventsOf(lanefold, other.threadId);
    expect(started!.data).toMatchObject({ model: 'scripted:["by request"]' });
  });

  test('may extend the tool context, which tools receive with the details of their call', async () => {
    const model = lanefold.model([{ calls: [{ id: 'c9', name: 'spy' }] }, { text: 'ok' }]);
    const options = { agent: 'a', model: model.id, input: 'hi', toolContext: { plan: 'paid' } };
    const { threadId, id, requestId } = await lanefold.run(options);
    expect(seen).toMatchObject([
      {
        threadId,
        runId: id,
        requestId,
        iteration: 1,
        round: 1,
        callIndex: 0,
        attempt: 1,
        toolCallId: 'c9',
        idempotencyKey: `${id}:1:0`,
        context: { user: 'u', plan: 'paid' },
      },
    ]);
  });

  test('continues the run if it arrives during the final answer', async () => {
    const gate = deferred();
    const model = lanefold.model(async (_, n) =>
      n === 0 ? gate.promise.then(() => ({ text: 'done' })) : { text: 'done, in French' },
    );
    const { threadId, id } = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'do it' });
    await until('the model is called', () => model.calls.length === 1);
    const steer = { id: 'i1', kind: 'steer', by: 'test', content: 'in French' };
    await lanefold.database.pool.query('select lanefold.enqueue_input($1, $2)', [threadId, steer]);
    gate.resolve();
    expect(await lanefold.runs.wait({ threadId, id })).toMatchObject({ result: 'done, in French', iteration: 2 });
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual([
      'do it',
      'done',
      'in French',
      'done, in French',
    ]);
    expect((await eventsOf(lanefold, threadId)).map((event) => [event.kind, event.iteration])).toEqual([
      ['request_started', 1],
      ['llm_started', 1],
      ['llm_completed', 1],
      ['checkpoint', 1],
      ['input_injected', 1],
      ['llm_started', 2],
      ['llm_completed', 2],
      ['checkpoint', 2],
      ['request_completed', 2],
      ['checkpoint', 2],
    ]);
    await expectSound(lanefold, threadId);
  });

  test('is logged but not answered if it arrives during the last allowed model call', async () => {
    const gate = deferred();
    const model = lanefold.model(async () => gate.promise.then(() => ({ text: 'done' })));
    const options = { agent: 'a', model: model.id, input: 'do it', maxIterations: 1 };
    const { threadId, id } = await lanefold.runs.enqueue(options);
    await until('the model is called', () => model.calls.length === 1);
    const steer = { id: 'i1', kind: 'steer', by: 'test', content: 'wait' };
    await lanefold.database.pool.query('select lanefold.enqueue_input($1, $2)', [threadId, steer]);
    gate.resolve();
    expect(await lanefold.runs.wait({ threadId, id })).toMatchObject({ terminationReason: 'max_iterations' });
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual(['do it', 'done', 'wait']);
    expect(model.calls).toHaveLength(1);
    await expectSound(lanefold, threadId);
  });
});
