import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { FakeScript } from '../../support/fake-model.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const output = { schema: z.object({ total: z.number(), Items: z.array(z.string()) }) };

describe('whoever waits for a run gets it as it is read afterwards', () => {
  let lanefold: Runtime;
  /** Another process, as far as waiting is concerned: it has no worker. */
  let elsewhere: Lanefold;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'text', model: unset, maxIterations: 1 }),
      defineAgent({ name: 'order', model: unset, output }),
    ]);
    elsewhere = await createLanefold({ ...lanefold.options, agents: [] });
  });
  afterAll(async () => {
    await elsewhere?.close();
    await lanefold?.close();
  });

  const ends: [string, string, FakeScript, object][] = [
    ['an answer', 'text', [{ text: 'done' }], { status: 'completed', result: 'done' }],
    [
      'a typed answer',
      'order',
      [{ text: '{"total": 1.50, "Items": ["b", "a"]}' }],
      { status: 'completed', result: { total: 1.5, Items: ['b', 'a'] } },
    ],
    ['an error', 'text', () => new Error('out of order'), { status: 'failed' }],
  ];
  test.each(ends)('%s', async (_, agent, script, expected) => {
    const { id: model } = lanefold.model(script);
    const { id, threadId, run } = await lanefold.run({ agent, model, input: 'go' });
    expect(run).toMatchObject(expected);
    expect(await elsewhere.runs.wait({ id, threadId })).toEqual(run);
    expect(await lanefold.runs.get({ id, threadId })).toMatchObject({ ...run });
  });

  test('at once if it has ended: no timer fires', async () => {
    const { id: model } = lanefold.model([{ text: 'done' }]);
    const { id, threadId } = await lanefold.run({ agent: 'text', model, input: 'go' });
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const waits = [
      { id, threadId },
      { id, threadId },
    ].map((run) => elsewhere.runs.wait(run));
    expect(await Promise.all(waits)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    await expect(elsewhere.runs.wait({ id: 'gone', threadId })).rejects.toMatchObject({ code: 'run_not_found' });
  });
});
