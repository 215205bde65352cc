import { defineAgent, defineTool, type EnqueueOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { treeModel } from '../support/tree-model.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

const book = defineTool({ name: 'book', needsApproval: true, input: z.object({}), execute: () => 'booked' });

// A token of output costs a dollar, and each call uses the 5 it may have.
describe('maxCost', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const settings = { maxOutputTokens: 5 };
    lanefold = await startLanefold({
      agents: [
        defineAgent({ name: 'typist', model: 'typed:m', settings, tools: [book] }),
        defineAgent({ name: 'frugal', model: 'typed:m', settings, tools: [book], maxCost: 8 }),
        defineAgent({ name: 'thinker', model: 'tree:m', settings, strategy: 'tot', strategyOptions: { maxDepth: 2 } }),
        defineAgent({ name: 'unpriced', model: 'scripted:echo' }),
      ],
      models: { typed: () => model, tree: () => treeModel() },
      priceOf: ({ model: name, outputTokens }) => (name === 'scripted:echo' ? undefined : outputTokens),
    });
    await lanefold.startWorker({ concurrency: 4 });
  });
  afterAll(() => lanefold?.close());
  const ask = (more: Partial<EnqueueOptions> = {}) => lanefold.runs.enqueue({ agent: 'typist', input: 'go', ...more });
  const kindsOf = async (run: { threadId: string; id: string }) =>
    (await lanefold.runs.events(run)).filter(({ kind }) => kind === 'limit_reached').map(({ data }) => data);

  test('lets a run make the calls it can pay for', async () => {
    const run = await ask({ maxCost: 8 });
    const keyboard = await model.next();
    keyboard.type('done');
    keyboard.stop();
    await lanefold.runs.wait(run);
    expect(await lanefold.runs.get(run)).toMatchObject({
      status: 'completed',
      result: 'done',
      cost: 5,
      costByModel: [{ model: 'typed:m', inputTokens: 10, outputTokens: 5, cost: 5, price: 'own' }],
    });
    expect(await kindsOf(run)).toEqual([]);
  });

  test.each([['the request', { maxCost: 8 }] as const, ['the agent', { agent: 'frugal' }] as const])(
    'of %s ends a run before a call it could not pay for, also after another worker has taken it',
    async (_, more) => {
      const run = await ask(more);
      const keyboard = await model.next();
      keyboard.stop({ id: 'a', name: 'book' });
      await until('it waits', async () => (await lanefold.runs.get(run)).status === 'suspended');
      await lanefold.runs.approve(run, '1.0');
      await lanefold.runs.wait(run);
      expect(await lanefold.runs.get(run)).toMatchObject({
        status: 'completed',
        terminationReason: 'budget_exhausted',
        result: null,
        error: null,
        cost: 5,
      });
      expect(await kindsOf(run)).toEqual([{ max_cost: 8, ends: true }]);
    },
  );

  test('lets a search end with the best it has found', async () => {
    const run = await ask({ agent: 'thinker', maxCost: 12 });
    const ended = await lanefold.runs.wait(run);
    expect(ended).toMatchObject({ status: 'completed', terminationReason: 'budget_exhausted' });
    expect(JSON.stringify(ended.result)).toContain('By train');
  });

  test.each([
    ['limit_too_small', { maxCost: 3 }],
    ['price_unknown', { agent: 'unpriced', maxCost: 3 }],
  ])('is refused with %s where not even one call is possible, and nothing is written', async (code, more) => {
    const threadId = `refused-${code}`;
    await expect(ask({ ...more, threadId, createThread: true })).rejects.toMatchObject({ code });
    await expect(lanefold.threads.get(threadId)).rejects.toMatchObject({ code: 'thread_not_found' });
  });

  test.each([0, -1, Number.NaN, Infinity, 1e7, '5'])('%j is no amount', async (maxCost) => {
    await expect(ask({ maxCost: maxCost as number })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/maxCost/) as string,
    });
    expect(() => defineAgent({ name: 'a', model: 'm', maxCost: maxCost as number })).toThrow(
      /maxCost must be US dollars/,
    );
  });
});
