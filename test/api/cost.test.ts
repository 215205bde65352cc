import { defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';

import { startApi, type Api } from './helpers.ts';

/** 2.50 and 10 dollars for a million tokens in and out; 0.15 and 0.60. */
const [large, small] = ['openai:gpt-4o', 'openai:gpt-4o-mini'];
const text = { text: 'Done.', usage: [1_000, 100] as [number, number] };
const inDollars = { [large]: 0.0035, [small]: 0.00021 };
const mixed = inDollars[large]! + inDollars[small]!;

describe('what runs and threads cost', () => {
  let api: Api;
  let lanefold: Lanefold;
  beforeAll(async () => {
    const asking = fakeModel([{ calls: [{ name: 'none' }], usage: [1_000, 100] }]);
    api = await startApi({
      models: {
        openai: (name) => (name === 'gpt-4o' ? fakeModel([text]) : asking),
        local: () => fakeModel([text]),
        broken: () => fakeModel(() => new Error('out of credit')),
      },
      aliases: { smart: large },
      agents: [
        defineAgent({ name: 'large', model: 'smart' }),
        defineAgent({ name: 'local', model: 'local:llama' }),
        defineAgent({
          name: 'mixed',
          model: large,
          requestTransformer: (_, { iteration }) => (iteration === 1 ? { model: small } : undefined),
        }),
        defineAgent({
          name: 'failing',
          model: 'broken:x',
          requestTransformer: (_, { iteration }) => (iteration === 1 ? { model: small } : undefined),
        }),
        defineAgent({ name: 'cheap', model: large, requestTransformer: () => ({ model: 'local:llama' }) }),
      ],
    });
    lanefold = api.lanefold;
  });
  afterAll(() => api?.close());

  const ask = async (agent: string, threadId = agent) => {
    const run = await lanefold.runs.enqueue({ agent, threadId, input: 'hi', createThread: true });
    await lanefold.runs.wait(run);
    return run;
  };
  const overHttp = async (path: string) => (await api.call('GET', path)).body as Record<string, unknown>;

  test('by the list price of the model, through an alias too', async () => {
    const run = await ask('large');
    expect(await lanefold.runs.get(run)).toMatchObject({ cost: inDollars[large], unpricedTokens: 0 });
    expect(await overHttp(`/v1/threads/large/runs/${run.id}`)).toMatchObject({ cost: inDollars[large] });
  });

  test('each call at the price of the model that a request transformer chose for it', async () => {
    const run = await ask('mixed');
    const found = await lanefold.runs.get(run);
    expect(found).toMatchObject({ usage: { input_tokens: 2_000 }, otherUsage: { [small]: { calls: 1 } } });
    expect(found.cost).toBeCloseTo(mixed, 10);
    const only = await lanefold.runs.get(await ask('cheap'));
    expect(only).toMatchObject({ cost: null, unpricedTokens: 1_100 });
  });

  test('is unknown, not nothing, for a model without a known price', async () => {
    const run = await ask('local');
    expect(await overHttp(`/v1/threads/local/runs/${run.id}`)).toMatchObject({ cost: null, unpriced_tokens: 1_100 });
  });

  test('in lists, and of a whole thread', async () => {
    for (const agent of ['large', 'large', 'local', 'mixed', 'cheap']) await ask(agent, 'all');
    const [{ data: runs }, { data: threads }] = await Promise.all([
      lanefold.runs.list({ threadId: 'all' }),
      lanefold.threads.list({ agent: 'cheap' }),
    ]);
    expect(runs.map(({ cost }) => cost)).toEqual([
      null,
      expect.closeTo(mixed, 10),
      null,
      inDollars[large],
      inDollars[large],
    ]);
    const listed = threads.find(({ id }) => id === 'all')!;
    expect(listed.cost).toBeCloseTo(2 * inDollars[large]! + mixed, 10);
    expect(listed).toMatchObject({ unpricedTokens: 2_200, totalTokens: 6 * 1_100 });
    expect(listed).not.toHaveProperty('spent');
    const { cost, unpricedTokens } = listed;
    expect(await lanefold.threads.get('all')).toMatchObject({ cost, unpricedTokens });
    expect(await overHttp('/v1/threads/all')).toMatchObject({ cost, unpriced_tokens: unpricedTokens });
    await lanefold.threads.create({ id: 'empty' });
    expect(await lanefold.threads.get('empty')).toMatchObject({ cost: null, unpricedTokens: 0 });
  });

  test('of a failed run too', async () => {
    const found = await lanefold.runs.get(await ask('failing'));
    expect(found).toMatchObject({ status: 'failed', unpricedTokens: 0 });
    expect(found.cost).toBeCloseTo(inDollars[small]!, 10);
  });
});
