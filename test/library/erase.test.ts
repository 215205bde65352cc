import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import { noRedis } from '../support/lanefold.ts';
import { placesOf } from '../support/stored-text.ts';
import { until } from '../support/until.ts';

const secret = 'tulip-7f3a';
const note = defineTool({
  name: 'note',
  input: z.object({ text: z.string() }),
  execute: ({ text }) => `noted ${text}`,
});

describe.skipIf(noRedis())('erasure', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools: [note] })]);
  });
  afterAll(() => lanefold?.close());

  /** Runs that completed, failed and used tools, one of them with a reader; all of it speaks of the secret. */
  async function fullThread(id: string, tenantId = 'default'): Promise<void> {
    await lanefold.threads.create({ id, tenantId, metadata: { about: secret }, systemPrompt: `You know ${secret}.` });
    const talks = lanefold.model([
      { calls: [{ name: 'note', args: { text: secret } }] },
      { calls: [{ name: `say ${secret}` }] },
      { text: `It is ${secret}.` },
    ]);
    const fails = lanefold.model(() => new Error(`The provider quotes ${secret}.`));
    const silent = (item: unknown) => item;
    const first = await lanefold.runs.enqueue({ agent: 'a', threadId: id, model: talks.id, input: `About ${secret}?` });
    for await (const item of lanefold.runs.stream(first)) silent(item);
    const { run } = await lanefold.run({ agent: 'a', threadId: id, model: fails.id, input: secret });
    expect(run.error?.message).toContain(secret);
  }

  const inQueue = async () => (await placesOf(lanefold, secret)).filter((place) => !place.startsWith('lanefold.'));

  test('leaves nothing of a thread in any table or key; the queue never had any of it', async () => {
    await fullThread('gone');
    await fullThread('kept');
    expect(await inQueue()).toEqual([]);
    const { removed, left, tenantId } = await lanefold.threads.erase('gone');
    expect([tenantId, left.length > 3]).toEqual(['default', true]);
    expect(removed).toMatchObject({ threads: 1, runs: 2, toolCalls: 2, jobs: 2 });
    expect(removed.entries).toBe(8);
    expect(await placesOf(lanefold, 'gone')).toEqual(['lanefold.thread']);
    expect((await placesOf(lanefold, secret)).length).toBeGreaterThan(3);
    await lanefold.threads.erase('kept');
    // live text that no reader took any more goes with its reader
    await until('no text is left', async () => (await placesOf(lanefold, secret)).length === 0);
  });

  test('of a tenant keeps other tenants and busy threads, and says so', async () => {
    for (const id of ['t-1', 't-2', 't-3']) await lanefold.threads.create({ id, tenantId: 'acme' });
    await lanefold.threads.create({ id: 'other', tenantId: 'other' });
    const model = lanefold.model(() => new Promise(() => {}));
    const run = await lanefold.runs.enqueue({ agent: 'a', threadId: 't-1', model: model.id, input: 'x' });
    expect(await lanefold.threads.eraseTenant('acme', { limit: 2 })).toMatchObject({
      tenantId: 'acme',
      busy: ['t-1'],
      more: true,
      removed: { threads: 1 },
    });
    await lanefold.runs.cancel(run);
    await lanefold.runs.wait(run);
    expect(await lanefold.threads.eraseTenant('acme')).toMatchObject({
      busy: [],
      more: false,
      removed: { threads: 2 },
    });
    expect(await lanefold.threads.get('other')).toMatchObject({ tenantId: 'other' });
    expect((await lanefold.threads.eraseTenant('nobody')).removed.threads).toBe(0);
  });
});
