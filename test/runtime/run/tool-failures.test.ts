import { defineAgent, defineTool, ToolError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const input = z.object({});
let busyAttempts = 0;
let payments = 0;
let looks = 0;
const tools = [
  defineTool({
    name: 'throws',
    input,
    execute: () => {
      throw new Error('no such row');
    },
  }),
  defineTool({
    name: 'queries',
    input,
    execute: () => {
      throw Object.assign(
        new Error(
          'could not reach postgres://app:hunter2@db:5432/orders with key sk-live-0123456789, password=hunter2',
        ),
        { code: 'ECONNREFUSED' },
      );
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
  defineTool({ name: 'looks', input, execute: () => (looks += 1) }),
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

describe('a failing tool', () => {
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
    // a tool is not executed with arguments that it refuses
    const attempts = name === 'strict' ? 0 : 1;
    expect(await ledgerOf(lanefold, threadId)).toMatchObject([{ name, status: 'error', attempts, result: content }]);
    await expectSound(lanefold, threadId);
  });

  test('does not tell the model, the trace or the job what credentials it was configured with', async () => {
    const model = lanefold.model([{ calls: [{ name: 'queries' }] }, { text: 'I see.' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    const [, content] = (await contextOf(lanefold, threadId))[2]!;
    expect(JSON.parse(content as string)).toEqual(
      error(
        'ECONNREFUSED',
        'could not reach postgres://[redacted]@db:5432/orders with key [redacted], password=[redacted]',
      ),
    );
    const { rows } = await lanefold.database.pool.query(
      `select to_jsonb(e)::text as row from lanefold._entry e where thread_id = $1
       union all select to_jsonb(e)::text from lanefold._event_batch e where thread_id = $1
       union all select to_jsonb(c)::text from lanefold._tool_call c where thread_id = $1
       union all select to_jsonb(r)::text from lanefold._run r where thread_id = $1`,
      [threadId],
    );
    expect(run.status).toBe('completed');
    expect(JSON.stringify(rows)).not.toMatch(/hunter2|sk-live/);
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

  test('an answer with more calls than allowed executes none; the log keeps one more than the limit, and the model is told', async () => {
    const calls = Array.from({ length: 300 }, () => ({ name: 'looks' }));
    const model = lanefold.model([{ calls }, { calls: calls.slice(0, 128) }, { text: 'better' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect([run.status, looks]).toEqual(['completed', 128]);
    const rows = await ledgerOf(lanefold, threadId);
    expect(rows.map(({ status }) => status)).toEqual([...Array(129).fill('error'), ...Array(128).fill('ok')]);
    expect(rows[0]).toMatchObject({ attempts: 0, result: expect.stringContaining('too_many_tool_calls') });
    const cut = (await lanefold.threads.entries(threadId, { limit: 500 })).filter(
      ({ refs }) => refs?.['tool_calls_cut'],
    );
    expect(cut).toMatchObject([{ role: 'assistant', refs: { tool_calls_cut: 171 } }]);
    expect((await eventsOf(lanefold, threadId)).filter(({ kind }) => kind === 'tool_started')).toHaveLength(128);
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
