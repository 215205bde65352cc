// @module-tag slow
import { createLanefold, defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlOf } from '../limits/sql.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

import { until } from '../support/until.ts';

const versionOf = (version: string) =>
  defineAgent({ name: 'support', version, model: unset, instructions: `You are ${version}.` });
const other = defineAgent({ name: 'other', model: unset, instructions: 'You are another.' });
const full = { maxInputTokens: 600, reserveOutputTokens: 0, keepLastTurns: 1, compactAt: 0.5 };

describe('a compaction', () => {
  let lanefold: Runtime;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  beforeAll(async () => {
    lanefold = await startRuntime([versionOf('a'), versionOf('b'), other]);
    sql = await sqlOf(lanefold);
  });
  afterAll(async () => {
    await sql?.close();
    await lanefold?.close();
  });

  /** A conversation of three turns under version b. With `compactAt`, the last one asks for a compaction. */
  async function talked(customer: string, last: { contextPolicy?: typeof full } = {}) {
    const model = lanefold.model(async ({ prompt }) =>
      JSON.stringify(prompt).includes('Summarise the conversation')
        ? { text: 'They talked.', usage: [400, 4] }
        : { text: 'word '.repeat(100) },
    );
    const threadId = `of-${customer}`;
    const request = { agent: 'support', version: 'b', model: model.id, threadId, limitKeys: { customer } };
    const by = { caller: `key:${customer}` };
    for (const more of [{ createThread: true }, {}, last])
      await lanefold.runs.wait(await lanefold.runs.enqueue({ ...request, input: 'continue', ...more }, by));
    return { model, threadId };
  }
  const ended = (threadId: string) =>
    until('a compaction has ended', async () => {
      const { data } = await lanefold.runs.list({ threadId });
      return data.find(({ strategy, finishedAt }) => strategy === 'compaction' && finishedAt);
    });
  /** What a limit has counted, and what the runs of the thread used. */
  const counted = async (limit: string, threadId: string) => {
    await sql.settled();
    const { data } = await lanefold.runs.list({ threadId });
    const used = data.reduce((sum, { usage }) => sum + usage!.total_tokens, 0);
    return [await sql.usage(limit), [expect.objectContaining({ total: used })]];
  };
  const limit = { kind: 'tokens', amount: 1_000_000, calendar: 'month' } as const;

  test('that the end of a run asks for counts for the limits of its customer and its key', async () => {
    await lanefold.limits.set('of-customer', { ...limit, scope: { customer: 'acme' } });
    await lanefold.limits.set('of-key', { ...limit, scope: { key: 'acme' } });
    const { threadId } = await talked('acme', { contextPolicy: full });
    expect(await ended(threadId)).toMatchObject({ status: 'completed', usage: { total_tokens: 404 } });
    for (const name of ['of-customer', 'of-key']) {
      const [is, expected] = await counted(name, threadId);
      expect(is).toEqual(expected);
    }
  });

  test('that somebody asks for counts for the customer of the conversation, also with another agent', async () => {
    await lanefold.limits.set('asked', { ...limit, scope: { customer: 'bolt' } });
    const { threadId } = await talked('bolt');
    const by = await lanefold.contexts.compact(threadId, { agent: 'other' });
    expect(await lanefold.runs.wait(by)).toMatchObject({ status: 'completed', agent: 'other' });
    const [is, expected] = await counted('asked', threadId);
    expect(is).toEqual(expected);
  });

  test.each(['the end of a run asks for', 'somebody asks for'])(
    'that %s is made under the version of the conversation',
    async (who) => {
      const asked = who === 'somebody asks for';
      const { model, threadId } = await talked(asked ? 'coil' : 'dell', asked ? {} : { contextPolicy: full });
      const run = asked ? await lanefold.runs.wait(await lanefold.contexts.compact(threadId)) : await ended(threadId);
      const [first] = (await lanefold.runs.list({ threadId })).data.filter(({ strategy }) => strategy !== 'compaction');
      expect(run).toMatchObject({ status: 'completed', agentVersion: first!.agentVersion });
      expect(model.calls.at(-1)!.prompt[0]).toMatchObject({ role: 'system', content: 'You are b.' });
      const { rows } = await lanefold.database.pool.query(
        "select content #>> '{}' as prompt from lanefold.lane_context where thread_id = $1 and role = 'system'",
        [threadId],
      );
      expect(rows).toEqual([{ prompt: 'You are b.' }]);
    },
  );

  test('asked for where nobody knows that version any more is made under the first one', async () => {
    const { threadId } = await talked('east');
    await lanefold.worker.stop();
    const later = await createLanefold({ ...lanefold.options, agents: [versionOf('a')] });
    try {
      await later.startWorker();
      expect(
        await later.runs.wait(await later.contexts.compact(threadId, { model: 'scripted:["Talk."]' })),
      ).toMatchObject({ status: 'completed', strategy: 'compaction' });
    } finally {
      await later.close();
    }
  });
});
