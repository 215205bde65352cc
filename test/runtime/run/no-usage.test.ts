// @module-tag slow
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent, defineTool, type AgentDefinition } from 'lanefold';
import { toMarkdown } from 'lanefold/evals';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startModelServer, type ModelAnswer, type ModelServer } from '../../support/openai-server.ts';

import { eventsOf, expectSound } from '../../support/log.ts';
import { startRuntime, type Runtime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'x'.repeat(400) });
const looks = (n: number) => ({ toolCalls: [{ id: `c${n}`, name: 'look', arguments: '{}' }] });
const perMillion = 1_000_000;

const agent = (name: string, more: Partial<AgentDefinition> = {}) =>
  defineAgent({ name, model: 'compatible:m', tools: [look], cycleWarning: false, maxIterations: 40, ...more });

describe('a provider that reports no usage', () => {
  let server: ModelServer;
  let lanefold: Runtime;
  beforeAll(async () => {
    server = await startModelServer();
    const baseURL = server.url;
    lanefold = await startRuntime(
      [
        agent('bounded', { maxTotalTokens: 1_000 }),
        agent('whole', { maxTotalTokens: 1_000, streaming: false }),
        agent('cheap', { maxCost: 0.01, settings: { maxOutputTokens: 100 } }),
        agent('limited', { settings: { maxOutputTokens: 100 } }),
      ],
      {
        models: {
          compatible: createOpenAICompatible({ name: 'compatible', baseURL, includeUsage: true }),
          anthropic: createAnthropic({ baseURL, apiKey: 'k' }),
          google: createGoogleGenerativeAI({ baseURL, apiKey: 'k' }),
        },
        // 0.001 dollars for a hundred tokens
        priceOf: ({ inputTokens, outputTokens }) => ((inputTokens + outputTokens) * 10) / perMillion,
      },
    );
  });
  afterAll(async () => {
    await lanefold?.close();
    await server?.close();
  });
  beforeEach(() => void server.requests.splice(0));

  const repeat = (answer: ModelAnswer) =>
    server.reply(...Array.from({ length: 40 }, (_, n) => ({ ...looks(n), ...answer })));
  const drain = () => server.clear();

  describe.each(['bounded', 'whole'])('%s', (name) => {
    test.each([
      ['none', { usage: null }],
      ['zero', { usage: [0, 0] as [number, number] }],
      ['nulls', { rawUsage: { prompt_tokens: null, completion_tokens: null, total_tokens: null } }],
      ['an empty object', { rawUsage: {} }],
      ['negative numbers', { rawUsage: { prompt_tokens: -5, completion_tokens: -1, total_tokens: -6 } }],
    ])('%s: maxTotalTokens stops the run, by an estimate that is marked', async (_, answer) => {
      repeat(answer);
      const { threadId, run } = await lanefold.run({ agent: name, input: 'go' });
      drain();
      expect(run).toMatchObject({ status: 'completed', terminationReason: 'max_total_tokens' });
      const { total_tokens: total, input_tokens: sent, output_tokens: got, estimated_tokens: estimated } = run.usage!;
      expect([sent + got, estimated]).toEqual([total, total]);
      expect(Math.min(sent, got)).toBeGreaterThan(0);
      // the last call passes the limit, so that it is the last
      expect(total).toBeGreaterThanOrEqual(1_000);
      expect(server.requests.length).toBeLessThan(12);
      const events = await eventsOf(lanefold, threadId);
      const answered = events
        .filter(({ kind }) => kind === 'llm_completed')
        .map(({ data }) => data['usage'] as Record<string, number>);
      expect(answered.reduce((sum, usage) => sum + usage['estimated_tokens']!, 0)).toBe(total);
      const { rows } = await lanefold.database.pool.query(
        `select (usage ->> 'estimated_tokens')::int as estimated from lanefold.run where thread_id = $1`,
        [threadId],
      );
      expect(rows).toEqual([{ estimated: total }]);
      await expectSound(lanefold, threadId);
    });
  });

  test.each([
    ['only a total', { total_tokens: 600 }, { total_tokens: 600, estimated_tokens: 600 }],
    [
      'a total and the output',
      { completion_tokens: 20, total_tokens: 600 },
      { input_tokens: 580, output_tokens: 20, total_tokens: 600 },
    ],
    [
      'a total and the input',
      { prompt_tokens: 580, total_tokens: 600 },
      { input_tokens: 580, output_tokens: 20, total_tokens: 600 },
    ],
    ['only the output', { completion_tokens: 900 }, { output_tokens: 900, estimated_tokens: expect.any(Number) }],
    ['only the input', { prompt_tokens: 900 }, { input_tokens: 900, estimated_tokens: expect.any(Number) }],
    [
      'everything',
      { prompt_tokens: 900, completion_tokens: 9 },
      { input_tokens: 900, output_tokens: 9, total_tokens: 909 },
    ],
  ])('%s: what it counted is kept, the rest is estimated', async (_, rawUsage, expected) => {
    server.reply({ text: 'An answer.', rawUsage });
    const { run } = await lanefold.run({ agent: 'limited', input: 'go' });
    expect(run.usage).toMatchObject(expected);
    const { input_tokens: sent, output_tokens: got, total_tokens: total, estimated_tokens: estimated } = run.usage!;
    expect(sent + got).toBe(total);
    expect(estimated === undefined).toBe(!('estimated_tokens' in expected));
    if (!('total_tokens' in rawUsage) && estimated !== undefined) expect(estimated).toBe(total - 900);
  });

  test.each(['anthropic:m', 'google:m'])('%s that counts nothing', async (model) => {
    repeat({ usage: null });
    const { run } = await lanefold.run({ agent: 'bounded', model, input: 'go' });
    drain();
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'max_total_tokens' });
    expect(run.usage!['estimated_tokens']).toBeGreaterThan(900);
  });

  test('maxCost stops the run, too', async () => {
    repeat({ usage: null });
    const { run, ...name } = await lanefold.run({ agent: 'cheap', input: 'go' });
    drain();
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'budget_exhausted' });
    const { cost } = await lanefold.runs.get(name);
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBeLessThanOrEqual(0.01);
    expect(server.requests.length).toBeGreaterThan(1);
  });

  test('a limit of tokens stops its runs, too', async () => {
    await lanefold.limits.set('day', { kind: 'tokens', amount: 1_500, calendar: 'month', onExhausted: 'end' });
    repeat({ usage: null });
    const { run } = await lanefold.run({ agent: 'limited', input: 'go' });
    drain();
    const { total_tokens: total, estimated_tokens: estimated } = run.usage!;
    expect(await lanefold.limits.usage({ name: 'day' })).toMatchObject([{ total }]);
    await lanefold.limits.remove('day');
    expect(run.terminationReason).not.toBe('final_answer');
    expect(estimated).toBe(total);
    expect(server.requests.length).toBeLessThan(9);
  });

  test('the report of an eval marks the sum', async () => {
    server.reply({ text: 'An answer.', usage: null }, { text: 'An answer.', usage: null });
    const { threadId, run } = await lanefold.run({ agent: 'limited', input: 'go' });
    await lanefold.cases.keep({ threadId, runId: run.id, dataset: 'd', expected: { contains: ['answer'] } });
    const { id } = await lanefold.evals.run({ dataset: 'd', variants: [{}] });
    expect(await lanefold.evals.wait(id)).toMatchObject({ status: 'completed', items: { done: 1 } });
    const [item] = await lanefold.evals.items(id);
    const total = item!.inputTokens! + item!.outputTokens!;
    expect(item!.estimatedTokens).toBe(total);
    const report = await lanefold.evals.report(id);
    expect(report.variants).toMatchObject([{ estimatedTokens: total }]);
    expect(toMarkdown(report)).toContain(`≈ ${item!.inputTokens} / ${item!.outputTokens}`);
    drain();
  });
});
