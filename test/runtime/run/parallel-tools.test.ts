import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { contextOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

type Gate = ReturnType<typeof deferred<string>>;

describe('parallel tool calls', () => {
  let lanefold: Runtime;
  /** Calls in progress, by their argument. */
  const open = new Map<number, Gate>();
  const started: number[] = [];
  const held = defineTool<{ n: number }>({
    name: 'held',
    input: { type: 'object', properties: { n: { type: 'number' } } },
    execute: ({ n }) => {
      const gate = deferred<string>();
      open.set(n, gate);
      started.push(n);
      return gate.promise.finally(() => open.delete(n));
    },
  });
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'four', model: unset, tools: [held] }),
      defineAgent({ name: 'two', model: unset, tools: [held], toolConcurrency: 2 }),
    ]);
  });
  beforeEach(() => void (started.length = 0));
  afterAll(() => lanefold?.close());

  const round = (n: number) =>
    lanefold.model([
      { calls: Array.from({ length: n }, (_, i) => ({ id: `c${i}`, name: 'held', args: { n: i } })) },
      { text: 'done' },
    ]);

  test('store each outcome as it arrives, but add their messages in call order', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'four', model: round(3).id, input: 'go' });
    await until('all three run', () => open.size === 3);
    for (const n of [2, 0]) {
      open.get(n)!.resolve(`result ${n}`);
      await until(`outcome ${n} is stored`, async () => (await ledgerOf(lanefold, run.threadId))[n]!.status === 'ok');
    }
    expect(await ledgerOf(lanefold, run.threadId)).toMatchObject([
      { call_index: 0, status: 'ok', result: 'result 0' },
      { call_index: 1, status: 'pending', result: null },
      { call_index: 2, status: 'ok', result: 'result 2' },
    ]);
    expect(await contextOf(lanefold, run.threadId)).toHaveLength(2);
    open.get(1)!.resolve('result 1');
    await lanefold.runs.wait(run);
    expect((await contextOf(lanefold, run.threadId)).slice(2, 5)).toEqual([
      ['tool', 'result 0'],
      ['tool', 'result 1'],
      ['tool', 'result 2'],
    ]);
    const completed = (await eventsOf(lanefold, run.threadId)).filter((event) => event.kind === 'tool_completed');
    expect(completed.map((event) => event.data['tool_call_id'])).toEqual(['c0', 'c1', 'c2']);
    await expectSound(lanefold, run.threadId);
  });

  test('start in call order and never exceed the agent’s toolConcurrency', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'two', model: round(5).id, input: 'go' });
    for (let done = 0; done < 5; done++) {
      await until('the slots are full', () => open.size === Math.min(2, 5 - done));
      expect(started).toHaveLength(Math.min(5, done + 2));
      [...open.values()].at(-1)!.resolve('ok');
      await until('its slot is free', () => started.length === Math.min(5, done + 3));
    }
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    await expectSound(lanefold, run.threadId);
  });

  test('may share an id: each call has its own ledger row and message', async () => {
    const model = lanefold.model([
      { calls: [0, 1].map((n) => ({ id: 'same', name: 'held', args: { n } })) },
      { text: 'done' },
    ]);
    const run = await lanefold.runs.enqueue({ agent: 'four', model: model.id, input: 'go' });
    await until('both run', () => open.size === 2);
    open.get(1)!.resolve('second');
    open.get(0)!.resolve('first');
    await lanefold.runs.wait(run);
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => [row.tool_call_id, row.result])).toEqual([
      ['same', 'first'],
      ['same', 'second'],
    ]);
    expect((await contextOf(lanefold, run.threadId)).slice(2, 4)).toEqual([
      ['tool', 'first'],
      ['tool', 'second'],
    ]);
    await expectSound(lanefold, run.threadId);
  });
});
