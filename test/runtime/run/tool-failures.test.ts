import { defineAgent, defineTool, ToolError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noRedis } from '../../support/lanefold.ts';
import { contextOf, expectSound, ledgerOf } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const input = z.object({});
let busyAttempts = 0;
let payments = 0;
const tools = [
  defineTool({
    name: 'throws',
    input,
    execute: () => {
      throw new Error('no such row');
    },
  }),
  defineTool({ name: 'hangs', input, timeoutMs: 20, maxRetries: 0, execute: () => new Promise(() => {}) }),
  defineTool({
    name: 'pays',
    input,
    replay: 'never',
    timeoutMs: 20,
    execute: () => {
      payments += 1;
      return new Promise(() => {});
    },
  }),
  defineTool({
    name: 'circular',
    input,
    execute: () =>
      Object.assign(
        {},
        {
          get self() {
            return this;
          },
        },
      ),
  }),
  defineTool({ name: 'huge', input, maxResultBytes: 10, execute: () => 'x'.repeat(11) }),
  defineTool({ name: 'strict', input: z.object({ city: z.string() }), execute: () => 'never runs' }),
  defineTool({
    name: 'busy',
    input,
    retryBackoffMs: 0,
    execute: () => {
      busyAttempts += 1;
      if (busyAttempts === 1) throw new ToolError('come back', { type: 'rate_limited' });
      return 'at last';
    },
  }),
];

describe.skipIf(noRedis())('a failing tool', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools })]);
  });
  afterAll(() => lanefold?.close());

  const error = (type: string, message: unknown, retryable = false) => ({
    ok: false,
    error: { type, message, retryable },
  });

  test.each([
    ['throws', error('exception', 'no such row')],
    ['hangs', error('timeout', expect.stringContaining('20 ms'), true)],
    ['circular', error('invalid_result', expect.stringContaining('not JSON'))],
    ['huge', error('result_too_large', expect.stringContaining('11 bytes'))],
    ['strict', error('invalid_arguments', expect.stringContaining('city'))],
    ['missing', error('unknown_tool', expect.stringContaining('missing'))],
  ])('%s: the model sees the error and answers', async (name, expected) => {
    const model = lanefold.model([{ calls: [{ name }] }, { text: 'I see.' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect(run).toMatchObject({ status: 'completed', result: 'I see.' });
    const [role, content] = (await contextOf(lanefold, threadId))[2]!;
    expect([role, JSON.parse(content as string)]).toEqual(['tool', expected]);
    expect(await ledgerOf(lanefold, threadId)).toMatchObject([{ name, status: 'error', attempts: 1, result: content }]);
    await expectSound(lanefold, threadId);
  });

  test('is retried if the error is retryable; only the final outcome is stored', async () => {
    const model = lanefold.model([{ calls: [{ name: 'busy' }] }, { text: 'fine' }]);
    const { threadId } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect(await ledgerOf(lanefold, threadId)).toMatchObject([{ status: 'ok', attempts: 2, result: 'at last' }]);
    expect(busyAttempts).toBe(2);
  });

  test("is attempted once with replay 'never': a timeout is unknown, to the ledger and to the model", async () => {
    const model = lanefold.model([{ calls: [{ name: 'pays' }] }, { text: 'I will ask.' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect([run.status, payments]).toEqual(['completed', 1]);
    const [role, content] = (await contextOf(lanefold, threadId))[2]!;
    const shown = error('unknown_outcome', expect.stringContaining('20 ms'));
    expect([role, JSON.parse(content as string)]).toEqual(['tool', shown]);
    expect(await ledgerOf(lanefold, threadId)).toMatchObject([{ status: 'unknown', attempts: 1, result: content }]);
    await expectSound(lanefold, threadId);
  });

  test('does not affect parallel calls', async () => {
    const model = lanefold.model([
      { calls: [{ name: 'throws' }, { name: 'busy' }, { name: 'missing' }] },
      { text: 'ok' },
    ]);
    const { threadId } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect((await ledgerOf(lanefold, threadId)).map((row) => row.status)).toEqual(['error', 'ok', 'error']);
    await expectSound(lanefold, threadId);
  });
});
