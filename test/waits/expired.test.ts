import { defineAgent, defineTool, waitFor } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

import { ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';

interface Asked {
  event: string;
  timeoutMs?: number;
}

describe('a call whose time to wait is up', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    const tool = defineTool<Asked>({
      name: 'await_event',
      input: { type: 'object' },
      execute: ({ event, ...options }) => waitFor(event, options),
    });
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools: [tool] })], {
      worker: { sweepMs: 50 },
    });
  });
  afterAll(() => lanefold?.close());

  test('fails alone: the other calls of its round continue waiting', async () => {
    const asked: Asked[] = [
      { event: 'soon', timeoutMs: 1 },
      { event: 'later', timeoutMs: 3_600_000 },
      { event: 'ever' },
    ];
    const calls = asked.map((args, n) => ({ id: `c${n}`, name: 'await_event', args }));
    const model = lanefold.model([{ calls }, { text: 'done' }]);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go' });
    const statuses = async () => (await ledgerOf(lanefold, run.threadId, run.id)).map(({ status }) => status);
    await until('the first call has failed', async () => (await statuses())[0] === 'error');
    expect(await statuses()).toEqual(['error', 'waiting', 'waiting']);
    expect((await lanefold.runs.get(run)).waits.map(({ event }) => event)).toEqual(['later', 'ever']);
    for (const { event } of asked.slice(1)) expect((await lanefold.events.send(event, event)).resolved).toHaveLength(1);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
    expect((await ledgerOf(lanefold, run.threadId, run.id)).map(({ status, result }) => [status, result])).toEqual([
      ['error', expect.stringContaining('timeout')],
      ['ok', 'later'],
      ['ok', 'ever'],
    ]);
  });
});
