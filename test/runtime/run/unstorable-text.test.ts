import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, entriesOf, expectSound, ledgerOf } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const input = z.object({}).loose();
const tools = [
  defineTool({ name: 'nul', input, execute: () => 'a\u0000b' }),
  defineTool({ name: 'lone', input, execute: () => ({ deep: ['x\ud800y'] }) }),
  defineTool({ name: 'fine', input, execute: () => 'fine' }),
  defineTool({
    name: 'throws',
    input,
    execute: () => {
      throw new Error('no\u0000 no');
    },
  }),
];

describe('text PostgreSQL cannot store', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools })]);
  });
  afterAll(() => lanefold?.close());

  const cleaned = async (threadId: string) =>
    (await entriesOf(lanefold, threadId)).map((entry) => entry.refs['cleaned'] ?? false);

  test('is replaced in every part of a model’s turn, and the message is marked', async () => {
    const model = lanefold.model([
      {
        thinking: 'h\u0000m',
        text: 'a\ud800b',
        calls: [{ id: 'c\u0000', name: 'fine', args: { 'k\u0000': 'v\udfff' } }],
      },
      { text: 'clean' },
    ]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect(run).toMatchObject({ status: 'completed', result: 'clean' });
    const turn = (await entriesOf(lanefold, threadId))[1]!;
    expect(turn.payload).toMatchObject({
      content: 'a\ufffdb',
      thinking: 'h\ufffdm',
      tool_calls: [{ id: 'c\ufffd', name: 'fine', arguments: { 'k\ufffd': 'v\ufffd' } }],
    });
    expect(await cleaned(threadId)).toEqual([false, true, false, false]);
    await expectSound(lanefold, threadId);
  });

  test('is replaced in tool results and errors, and only those messages are marked', async () => {
    const names = ['nul', 'fine', 'lone', 'throws'];
    const model = lanefold.model([{ calls: names.map((name, i) => ({ id: `c${i}`, name })) }, { text: 'ok' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect(run.status).toBe('completed');
    expect((await contextOf(lanefold, threadId)).slice(2, 6).map(([, content]) => content)).toEqual([
      'a\ufffdb',
      'fine',
      '{"deep":["x\ufffdy"]}',
      '{"ok":false,"error":{"type":"exception","message":"no\ufffd no","retryable":false}}',
    ]);
    expect(await cleaned(threadId)).toEqual([false, false, true, false, true, true, false]);
    expect((await ledgerOf(lanefold, threadId)).map((row) => row.status)).toEqual(['ok', 'ok', 'ok', 'error']);
    await expectSound(lanefold, threadId);
  });
});
