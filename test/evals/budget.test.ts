// @module-tag slow
import { defineAgent, defineTool, type EvalDefinition, type ModelName } from 'lanefold';
import { failIf } from 'lanefold/evals';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cli } from '../cli/cli.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const cases = 6;
/** What a call costs, in US dollars; of the model that looks, five tokens of output. */
const cheap = 'scripted:["Fine."]';
const dear = 'scripted:["Fine.","Fine."]';
const prices: Record<string, number | undefined> = { [cheap]: 0.0001, [dear]: 0.001, 'fake:looking': 0.0005 };
/** What all items cost: each case under both variants. */
const neededMicros = 6_600;

describe('the budget of an eval', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    const look = defineTool({ name: 'look', input: z.object({ n: z.number() }), execute: () => 'seen' });
    lanefold = await startLanefold({
      agents: [defineAgent({ name: 'support', model: cheap, settings: { maxOutputTokens: 5 }, tools: [look] })],
      models: {
        // calls the tool twice before its answer: three calls, where the recorded run had one
        'fake:looking': fakeModel(({ prompt }) => {
          const n = prompt.filter(({ role }) => role === 'tool').length;
          return n < 2 ? { calls: [{ name: 'look', args: { n } }] } : { text: 'Fine.' };
        }),
      },
      priceOf: ({ model, calls, outputTokens }) =>
        prices[model] && prices[model] * (model === 'fake:looking' ? outputTokens / 5 : calls),
    });
    await lanefold.startWorker({ sweepMs: 500 });
    for (let n = 1; n <= cases; n++) {
      const request = { agent: 'support', input: `Refund ${n}?`, threadId: `case-${n}`, createThread: true };
      const { id: runId } = await lanefold.runs.wait(await lanefold.runs.enqueue(request));
      await lanefold.cases.keep({ threadId: `case-${n}`, runId, dataset: 'd', expected: { contains: ['Fine'] } });
    }
  });
  afterAll(() => lanefold?.close());

  const both = [{ name: 'cheap' }, { name: 'dear', model: dear as ModelName }];
  const evaluate = async (definition: Partial<EvalDefinition>) => {
    const { id } = await lanefold.evals.run({
      dataset: 'd',
      variants: both,
      fresh: true,
      ...definition,
    } as EvalDefinition);
    const { items } = await lanefold.evals.wait(id);
    return { items, report: await lanefold.evals.report(id), all: await lanefold.evals.items(id, { limit: 100 }) };
  };
  const spent = (all: { costMicros: number | null }[]) =>
    all.reduce((sum, { costMicros }) => sum + (costMicros ?? 0), 0);

  test.each([1, 4, 12])('is the eval’s: what all items need is enough, %i at a time', async (concurrency) => {
    const { items, report, all } = await evaluate({ maxCost: 0.0068, concurrency });
    expect(items).toMatchObject({ done: 2 * cases, failed: 0, skipped: 0 });
    expect(report.comparisons[0]).toMatchObject({ verdict: 'no_difference', cases });
    expect(spent(all)).toBe(neededMicros);
  });

  test('what it does not pay is skipped, and compared is what both variants have', async () => {
    const { items, report, all } = await evaluate({ maxCost: 0.0035 });
    expect(items.failed).toBe(0);
    expect(items.skipped).toBeGreaterThan(0);
    expect(items.done + items.skipped).toBe(2 * cases);
    const [cheap, dear] = report.variants;
    expect(cheap).toMatchObject({ failures: 0, passRate: 1, score: 1 });
    expect(dear).toMatchObject({ failures: 0, passRate: 1, score: 1 });
    expect(report.comparisons[0]).toMatchObject({ verdict: 'too_few_cases', cases: dear!.scored });
    expect(spent(all)).toBeLessThanOrEqual(3500);
    for (const item of all.filter(({ status }) => status === 'skipped'))
      expect(item).toMatchObject({ scores: [], answer: null, error: expect.stringContaining('budget') as string });
    for (const condition of ['failures > 0', 'pass_rate < baseline', 'score < baseline - 0.02'])
      expect(failIf(condition, report)).toEqual({ failed: false, reasons: [] });
  });

  test('a variant that it never pays is skipped as a whole', async () => {
    const { report } = await evaluate({ maxCost: 0.0009 });
    expect(report.variants).toMatchObject([
      { variant: 'cheap', scored: cases, failures: 0 },
      { variant: 'dear', scored: 0, failures: 0, skipped: cases, score: null },
    ]);
  });

  test('a run that needs more than was expected gets more, as long as there is some', async () => {
    const variants = [{ name: 'looking', model: 'fake:looking' as never }];
    const tools = 'stubs' as const;
    const given = { variants, tools, stubs: { look: 'seen' }, concurrency: 1 };
    const enough = await evaluate({ ...given, maxCost: cases * 0.0015 });
    expect(enough.items).toMatchObject({ done: cases, skipped: 0, failed: 0 });
    const less = await evaluate({ ...given, maxCost: 4 * 0.0015 + 0.001 });
    expect(less.items).toMatchObject({ done: 4, skipped: 2, failed: 0 });
    // the fifth had made two calls
    expect(less.all.map(({ status, costMicros }) => [status, costMicros])).toEqual([
      ...Array.from({ length: 4 }, () => ['done', 1500]),
      ['skipped', 1000],
      ['skipped', null],
    ]);
    expect(less.report.variants[0]).toMatchObject({ scored: 4, score: 1, costMicros: 7000 });
  });

  test('a model without a known price cannot be paid', async () => {
    prices[dear] = undefined;
    const { items, report } = await evaluate({ maxCost: 1 });
    prices[dear] = 0.001;
    expect(items).toMatchObject({ done: cases, skipped: cases, failed: 0 });
    expect(report.variants[1]).toMatchObject({ failures: 0, score: null });
  });

  test('answers that are reused cost nothing of it', async () => {
    await evaluate({ fresh: false });
    const { items } = await evaluate({ fresh: false, maxCost: 0.000001 });
    expect(items).toMatchObject({ done: 2 * cases, skipped: 0 });
  });

  test('does not fail a build by itself', { skip: Boolean(process.env['REDIS_URL']) }, async () => {
    const run = (...args: string[]) => cli(args, { env: { DATABASE_URL: lanefold.database.url } });
    const args = ['eval', 'run', '--dataset', 'd', '--model', cheap, '--model', dear, '--fresh', '--json'];
    const condition = ['--fail-if', 'failures > 0 or pass_rate < baseline - 0.02 or score < baseline'];
    for (const budget of ['0.0068', '0.0035'])
      expect(await run(...args, '--max-cost', budget, ...condition)).toMatchObject({ code: 0 });
  });
});
