import { describe, expect, test } from 'vitest';
import { createCounting } from '../../src/agent/models/counting.ts';
import { listPrice } from '../../src/agent/models/catalog.ts';

const at = new Date('2026-11-01');
const priceOf = async (...given: Parameters<typeof listPrice>) => (await listPrice(...given))?.cost;
const none = { calls: 1, inputTokens: 0, outputTokens: 0, cachedTokens: 0, writtenTokens: 0 };

describe('the price of tokens', () => {
  test('is the list price of the provider, with what a cache saves', async () => {
    const spent = { ...none, inputTokens: 1_000_000, outputTokens: 100_000 };
    expect(await priceOf('openai:gpt-4o', spent, at)).toBeCloseTo(3.5);
    expect(await priceOf('openai:gpt-4o', { ...spent, cachedTokens: 500_000 }, at)).toBeCloseTo(2.875);
  });

  test('of long requests is not that of as many tokens in short ones', async () => {
    const spent = { ...none, inputTokens: 400_000 };
    const long = (await priceOf('anthropic:claude-sonnet-4-5', spent, at))!;
    expect(await priceOf('anthropic:claude-sonnet-4-5', { ...spent, calls: 10 }, at)).toBeCloseTo(long / 2);
  });

  test('is your own where you have one', async () => {
    const counting = createCounting({
      priceOf: ({ model, inputTokens }) => (model === 'own:m' ? inputTokens : undefined),
    });
    expect(await counting.priceOf('own:m', { ...none, inputTokens: 7 }, at)).toBe(7);
    expect(await counting.priceOf('openai:gpt-4o', { ...none, outputTokens: 100_000 }, at)).toBeCloseTo(1);
    expect(await counting.priced('own:m', { ...none, inputTokens: 7 }, at)).toEqual({ cost: 7, price: 'own' });
    expect(await counting.priced('openai:gpt-4o', none, at)).toEqual({
      cost: 0,
      price: 'list',
      perMillion: { input: 2.5, output: 10, cacheRead: 1.25 },
    });
  });

  test.each([-1, NaN, '1'])('cannot be %s', async (price) => {
    const counting = createCounting({ priceOf: () => price as number });
    await expect(counting.priceOf('own:m', none, at)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is unknown for other models, and survives counters that contradict each other', async () => {
    for (const model of ['openai:nobody', 'scripted:["hi"]', 'bench', 'nobody:gpt-4o'])
      expect(await priceOf(model, { ...none, inputTokens: 10 }, at)).toBeUndefined();
    expect(await priceOf('openai:gpt-4o', { ...none, calls: 0, cachedTokens: 5 }, at)).toBe(0);
  });
});
