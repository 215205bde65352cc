import { tool } from 'ai';
import { defineAgent, defineTool, ToolError, withEffects, type JsonObject } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, entriesOf, eventsOf, expectSound } from '../../support/log.ts';
import { deferred } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const input = z.object({}).loose();
let gate = deferred();
let attempts = 0;
const seen: JsonObject[] = [];
const effect = (value: JsonObject) => ({ op: 'set' as const, value });
const tools = [
  defineTool({
    name: 'slow',
    input,
    execute: (_, { state }) => {
      seen.push(state);
      return gate.promise.then(() => withEffects('slow', [effect({ marker: 'slow', slow: true })]));
    },
  }),
  defineTool({
    name: 'fast',
    input,
    execute: (_, { state }) => {
      seen.push(state);
      gate.resolve();
      return withEffects({ ok: 1 }, [effect({ marker: 'fast' }), { op: 'set_path', path: ['deep', 'er'], value: [1] }]);
    },
  }),
  defineTool({
    name: 'flaky',
    input,
    retryBackoffMs: 0,
    execute: () => {
      attempts += 1;
      const effects = [effect({ [`attempt${attempts}`]: true })];
      throw new ToolError('no luck', { retryable: attempts < 2, effects });
    },
  }),
  defineTool({
    name: 'odd',
    input,
    execute: () =>
      withEffects('odd', [{ op: 'explode' }, effect({ odd: 'x\u0000' }), { op: 'set', value: 7 }] as never),
  }),
  {
    sdk: tool({
      inputSchema: input,
      execute: async () => withEffects(5, [effect({ sdk: true })]),
      toModelOutput: ({ output }) => ({ type: 'text', value: `five is ${JSON.stringify(output)}` }),
    }),
  },
];

describe('tool effects', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'a', model: unset, tools }),
      defineAgent({ name: 'none', model: unset, tools, effectPolicy: { mode: 'deny_all' } }),
      defineAgent({ name: 'few', model: unset, tools, effectPolicy: { mode: 'allow_all', deny: ['set'] } }),
    ]);
  });
  beforeEach(() => {
    gate = deferred();
    attempts = seen.length = 0;
  });
  afterAll(() => lanefold?.close());

  const run = (names: string[][], agent = 'a') => {
    const turns = names.map((round, r) => ({ calls: round.map((name, i) => ({ id: `c${r}.${i}`, name })) }));
    return lanefold.run({ agent, model: lanefold.model([...turns, { text: 'done' }]).id, input: 'go' });
  };
  const stateOf = async (threadId: string) => (await lanefold.threads.get(threadId)).state;
  const refused = async (threadId: string) =>
    (await eventsOf(lanefold, threadId))
      .filter((event) => event.kind === 'tool_completed')
      .map((event) => event.data['refused_effects']);

  test('are logged once per round, in call order, and visible to the tools of the next round', async () => {
    const { threadId } = await run([['slow', 'fast'], ['fast']]);
    const first = { marker: 'fast', slow: true, deep: { er: [1] } };
    expect(await stateOf(threadId)).toEqual(first);
    expect(seen).toEqual([{}, {}, first]);
    const entries = await entriesOf(lanefold, threadId);
    expect(entries.map((entry) => entry.role ?? entry.kind)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'ai_state_change',
      'assistant',
      'tool',
      'ai_state_change',
      'assistant',
    ]);
    expect(entries[4]!.payload).toEqual({
      operations: [
        { op: 'set', value: { marker: 'slow', slow: true }, call_index: 0 },
        { op: 'set', value: { marker: 'fast' }, call_index: 1 },
        { op: 'set_path', path: ['deep', 'er'], value: [1], call_index: 1 },
      ],
    });
    expect((await contextOf(lanefold, threadId)).slice(2, 4)).toEqual([
      ['tool', 'slow'],
      ['tool', '{"ok":1}'],
    ]);
    await expectSound(lanefold, threadId);
  });

  test('persist on the thread, and the next run starts from them', async () => {
    const { threadId } = await run([['fast']]);
    const model = lanefold.model([{ calls: [{ name: 'fast' }] }, { text: 'done' }]);
    await lanefold.run({ agent: 'a', model: model.id, input: 'again', threadId });
    expect(seen[1]).toEqual({ marker: 'fast', deep: { er: [1] } });
  });

  test('apply only from the last attempt of a retried tool', async () => {
    const { threadId } = await run([['flaky']]);
    expect(attempts).toBe(2);
    expect(await stateOf(threadId)).toEqual({ attempt2: true });
  });

  test('apply from AI SDK tools, too', async () => {
    const { threadId } = await run([['sdk']]);
    expect(await stateOf(threadId)).toEqual({ sdk: true });
    expect((await contextOf(lanefold, threadId))[2]).toEqual(['tool', 'five is 5']);
  });

  test('are reported and not applied if invalid; text PostgreSQL cannot store is replaced and marked', async () => {
    const { threadId } = await run([['odd']]);
    expect(await stateOf(threadId)).toEqual({ odd: 'x\ufffd' });
    expect(await refused(threadId)).toEqual([
      [
        { op: 'explode', reason: 'invalid' },
        { op: 'set', reason: 'invalid' },
      ],
    ]);
    expect((await entriesOf(lanefold, threadId))[2]!.refs).toMatchObject({ cleaned: true });
    await expectSound(lanefold, threadId);
  });

  test('are reported and not applied if the policy denies them; the others apply', async () => {
    const all = await run([['fast']], 'none');
    expect(await stateOf(all.threadId)).toEqual({});
    expect(await refused(all.threadId)).toEqual([
      [
        { op: 'set', reason: 'policy' },
        { op: 'set_path', reason: 'policy' },
      ],
    ]);
    expect((await entriesOf(lanefold, all.threadId)).map((entry) => entry.kind)).not.toContain('ai_state_change');
    const some = await run([['fast']], 'few');
    expect(await stateOf(some.threadId)).toEqual({ deep: { er: [1] } });
    expect(await refused(some.threadId)).toEqual([[{ op: 'set', reason: 'policy' }]]);
  });

  test.each([
    ['mode', { mode: 'sometimes' }],
    ['operation', { allow: ['emit'] }],
  ])('have a policy that rejects an unknown %s', (_, effectPolicy) => {
    expect(() => defineAgent({ name: 'x', model: unset, effectPolicy: effectPolicy as never })).toThrow(/effectPolicy/);
  });
});
