import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';

describe('what a run used of a limit', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const look = defineTool({ name: 'look', input: { type: 'object' }, execute: () => 'looked' });
    const settings = { maxOutputTokens: 1_000 };
    const agents = [defineAgent({ name: 'typist', model: 'typed:m', tools: [look], settings })];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    await lanefold.startWorker();
  });
  afterAll(() => lanefold?.close());

  test('counts from the end of each call, and not only from the end of the run', async () => {
    await lanefold.limits.set('tokens', { kind: 'tokens', scope: {}, amount: 100_000, calendar: 'month' });
    const usage = async () => (await lanefold.limits.usage({ name: 'tokens' }))[0]!;
    const run = await lanefold.runs.enqueue({ agent: 'typist', input: 'go' });
    const first = await model.next();
    const reserved = await usage();
    expect(reserved).toMatchObject({ used: reserved.reserved, total: 0 });
    first.stop({ id: 'c0', name: 'look' });
    // each call of this model uses 15; the second one reserves when the first is settled
    const second = await model.next();
    const between = await usage();
    expect(between).toMatchObject({ used: between.reserved + 15, total: 15 });
    expect(between.reserved).toBeGreaterThan(1_000);
    second.type('Done.');
    second.stop();
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', usage: { total_tokens: 30 } });
    await expect.poll(usage).toMatchObject({ used: 30, reserved: 0, total: 30 });
  });
});
