import { defineAgent, defineTool, type RunningServer } from 'lanefold';
import { createClient } from 'lanefold/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { fakeModel } from '../support/fake-model.ts';
import { deferred } from '../support/until.ts';

const month = 2_592_000_000;

describe('times of more than 2^31 ms', () => {
  let lanefold: TestLanefold;
  let server: RunningServer;
  let gate = deferred();
  let called = deferred();
  beforeEach(() => void ([gate, called] = [deferred(), deferred()]));
  beforeAll(async () => {
    const held = async () => {
      called.resolve();
      await gate.promise;
    };
    const model = fakeModel(async ({ prompt }) => {
      if (JSON.stringify(prompt).includes('use the tool') && prompt.at(-1)!.role === 'user')
        return { calls: [{ id: 'c', name: 'hold', args: {} }] };
      if (prompt.at(-1)!.role !== 'tool') await held();
      return { text: 'done' };
    });
    const hold = defineTool({
      name: 'hold',
      input: { type: 'object' },
      execute: async () => {
        await held();
        return 'held';
      },
    });
    const times = { idleTimeoutMs: month, toolTimeoutMs: month, maxDurationMs: month, approvalTimeoutMs: month };
    lanefold = await startLanefold({
      agents: [
        defineAgent({ name: 'slow', model: 'fake:m', tools: [hold], ...times }),
        defineAgent({ name: 'quick', model: 'scripted:echo' }),
      ],
      models: { fake: () => model },
    });
    await lanefold.startWorker();
    server = await lanefold.startServer({ port: 0 });
  });
  afterAll(async () => {
    await server?.close();
    await lanefold?.close();
  });

  /** Long enough for a timer that is over at once. */
  async function otherRuns(): Promise<void> {
    for (let n = 0; n < 5; n++) await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'quick', input: 'x' }));
  }

  test.each(['answer', 'use the tool'])(
    'neither a wait, nor the silence, nor the run is over early: %s',
    async (input) => {
      const run = await lanefold.runs.enqueue({ agent: 'slow', input });
      const client = createClient({ url: server.url, timeoutMs: month });
      const waits = [
        ...[month, 2 ** 31, 2 ** 32 + 5, Infinity].map((timeoutMs) => lanefold.runs.wait(run, { timeoutMs })),
        client.runs.wait(run, { timeoutMs: month }),
      ];
      const settled = Promise.allSettled(waits);
      await called.promise;
      await otherRuns();
      gate.resolve();
      for (const end of await settled)
        expect(end).toMatchObject({ status: 'fulfilled', value: { status: 'completed' } });
    },
  );

  test.each([NaN, -1, '5' as never])('a wait of %s ms is refused', async (timeoutMs) => {
    const run = await lanefold.runs.enqueue({ agent: 'quick', input: 'x' });
    await expect(lanefold.runs.wait(run, { timeoutMs })).rejects.toMatchObject({ code: 'invalid_input' });
    if (typeof timeoutMs !== 'number') return;
    const client = createClient({ url: server.url });
    await expect(client.runs.wait(run, { timeoutMs })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test.each(['leaseMs', 'sweepMs', 'keepJobsMs', 'cancelGraceMs', 'stopGraceMs', 'unknownAgentMs'])(
    'a worker refuses %s that it could not keep',
    async (name) => {
      for (const ms of [2 ** 31, NaN, -1, 1.5])
        await expect(lanefold.startWorker({ [name]: ms })).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );

  test('an agent refuses times that no clock can show', () => {
    for (const name of ['maxDurationMs', 'toolTimeoutMs', 'idleTimeoutMs', 'approvalTimeoutMs', 'toolRetryBackoffMs'])
      expect(() => defineAgent({ name: 'a', model: 'scripted:echo', [name]: 1e16 })).toThrow(
        expect.objectContaining({ code: 'invalid_agent' }) as Error,
      );
  });

  test('so do keys and tokens', async () => {
    const refused = { code: 'invalid_input' };
    const key = { name: 'k', scopes: ['read'] } as const;
    await expect(lanefold.keys.create({ ...key, scopes: ['read'], expiresInMs: 1e16 })).rejects.toMatchObject(refused);
    const { id } = await lanefold.keys.create({ ...key, scopes: ['read'] });
    for (const overlapMs of [1e16, NaN, -1])
      await expect(lanefold.keys.rotate(id, { overlapMs })).rejects.toMatchObject(refused);
    await expect(lanefold.events.token('e', { expiresMs: 1e16 })).rejects.toMatchObject(refused);
  });
});
