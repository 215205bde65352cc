import { defineAgent, defineTool, type EnqueueOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refused } from '../../db/helpers.ts';
import { contextOf, entriesOf, eventsOf, expectSound } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import type { FakeTurn } from '../../support/fake-model.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen '.repeat(120) });
let lanefold: Runtime;
beforeAll(async () => {
  lanefold = await startRuntime([
    defineAgent({ name: 'a', model: unset, instructions: 'Be kind.', tools: [look], maxModelRetries: 0 }),
  ]);
});
afterAll(() => lanefold?.close());

type Answer = FakeTurn | Error;
const asks = (call: { prompt: unknown }) => JSON.stringify(call.prompt).includes('Summarise the conversation');
const long = 'word '.repeat(100);

/** A thread with `turns` long answers, and its model, which summarises as `summary` says. */
async function talked(turns: number, summary: (n: number) => Answer | Promise<Answer>) {
  let asked = 0;
  const model = lanefold.model(async (call) => (asks(call) ? summary(asked++) : { text: long }));
  const first = await lanefold.run({ agent: 'a', model: model.id, input: 'q0' });
  const { threadId } = first;
  for (let n = 1; n < turns; n++) await lanefold.run({ agent: 'a', model: model.id, input: `q${n}`, threadId });
  return {
    model,
    threadId,
    ask: (more: Partial<EnqueueOptions> = {}) =>
      lanefold.run({ agent: 'a', model: model.id, input: 'next', threadId, ...more }),
  };
}
const wait = async (run: { threadId: string; id: string }) => lanefold.runs.wait(run);

describe('a compaction by hand', () => {
  test('puts a summary in the place of older turns, and asks for it behind the request the provider has cached', async () => {
    const { model, threadId, ask } = await talked(3, () => ({ text: 'They talked.', usage: [400, 4] }));
    const before = await entriesOf(lanefold, threadId);
    const run = await lanefold.contexts.compact(threadId);
    const ended = await wait(run);
    expect(ended).toMatchObject({ status: 'completed', strategy: 'compaction', usage: { input_tokens: 400 } });
    expect(ended.result).toMatchObject({
      covered: [1, 4],
      messages: 4,
      cause: 'request',
      model: model.id,
      prompt_version: 2,
    });
    const { tokens_before: was, tokens_after: is } = ended.result as unknown as {
      tokens_before: number;
      tokens_after: number;
    };
    expect(is).toBeLessThan(was);
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['system', 'Be kind.'],
      ['user', 'Summary of earlier messages:\nThey talked.'],
      ['user', 'q2'],
      ['assistant', long],
    ]);
    const [live, summarising] = model.calls.slice(-2);
    expect(summarising!.prompt.slice(0, live!.prompt.length)).toEqual(live!.prompt);
    expect(summarising!.tools).toEqual(live!.tools);
    const after = await entriesOf(lanefold, threadId);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toMatchObject({
      kind: 'ai_context_operation',
      runId: run.id,
      payload: {
        operation: { type: 'replace', reason: 'compaction', base_seq: before.at(-1)!.seq, meta: { run_id: run.id } },
      },
    });
    await ask();
    await expectSound(lanefold, threadId);
    expect(model.calls.at(-1)!.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant', 'user']);
    expect((await eventsOf(lanefold, threadId, run.id)).map(({ kind }) => kind)).toEqual([
      'request_started',
      'compaction_completed',
      'request_completed',
      'checkpoint',
    ]);
    expect((await wait(await lanefold.contexts.compact(threadId, { keepTurns: 2 }))).result).toBeNull();
  });

  test('covers a range of entries', async () => {
    const { threadId } = await talked(3, () => ({ text: 'Then something.' }));
    const run = await lanefold.contexts.compact(threadId, { range: { fromSeq: 3, toSeq: 4 } });
    expect((await wait(run)).result).toMatchObject({ covered: [3, 4], messages: 2 });
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual([
      'Be kind.',
      'q0',
      long,
      'Summary of earlier messages:\nThen something.',
      'q2',
      long,
    ]);
  });

  test.each([
    ['summary_empty', () => ({ text: ' ' })],
    ['summary_too_long', () => ({ text: 'more '.repeat(2_000) })],
    ['summary_called_tools', () => ({ calls: [{ name: 'look' }] })],
    ['summary_cut', () => ({ text: 'They', finishReason: 'length' as const })],
    ['llm_request', () => new Error('down')],
  ])('that fails with %s changes nothing, and says so', async (type, summary) => {
    const { threadId, ask } = await talked(2, summary);
    const before = await contextOf(lanefold, threadId);
    const run = await lanefold.contexts.compact(threadId);
    expect(await wait(run)).toMatchObject({ status: 'failed', error: { type } });
    expect(await contextOf(lanefold, threadId)).toEqual(before);
    expect((await eventsOf(lanefold, threadId, run.id)).map(({ kind }) => kind)).toContain('compaction_failed');
    expect((await ask()).run.status).toBe('completed');
  });

  test('is one for all who ask at the same time, waits for the active run, and later requests wait for it', async () => {
    const gates = [deferred(), deferred()];
    const { model, threadId } = await talked(2, async () => {
      await gates[1]!.promise;
      return { text: 'They talked.' };
    });
    const slow = lanefold.model(async () => gates[0]!.promise.then(() => ({ text: long })));
    const active = await lanefold.runs.enqueue({ agent: 'a', model: slow.id, input: 'slow', threadId });
    const runs = await Promise.all([1, 2, 3].map(() => lanefold.contexts.compact(threadId, { model: model.id })));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
    expect(runs.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting']);
    gates[0]!.resolve();
    await wait(active);
    await until('the summary is asked for', () => model.calls.some(asks));
    expect(await lanefold.contexts.compact(threadId)).toMatchObject({ id: runs[0]!.id, duplicate: true });
    const meanwhile = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'meanwhile', threadId });
    expect(meanwhile.status).toBe('waiting');
    await expect(lanefold.runs.steer(threadId, 'quick')).rejects.toMatchObject({ code: 'not_steerable' });
    gates[1]!.resolve();
    expect((await wait(runs[0]!)).status).toBe('completed');
    expect((await wait(meanwhile)).status).toBe('completed');
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual([
      'Be kind.',
      'Summary of earlier messages:\nThey talked.',
      'slow',
      long,
      'meanwhile',
      long,
    ]);
  });

  test('that is cancelled changes nothing', async () => {
    const { model, threadId } = await talked(2, () => deferred<FakeTurn>().promise);
    const run = await lanefold.contexts.compact(threadId);
    await until('the summary is asked for', () => model.calls.some(asks));
    await lanefold.runs.cancel(run);
    expect(await wait(run)).toMatchObject({ status: 'cancelled' });
    expect(await contextOf(lanefold, threadId)).toHaveLength(5);
  });

  test('is refused where nobody says who summarises, and what', async () => {
    const { id } = await lanefold.threads.create();
    await refused(lanefold.contexts.compact(id), 'invalid_input');
    await refused(lanefold.contexts.compact('nothing'), 'thread_not_found');
    await refused(lanefold.contexts.compact(id, { agent: 'nobody' }), 'unknown_agent');
    await refused(lanefold.contexts.compact(id, { agent: 'a', range: { fromSeq: 2, toSeq: 1 } }), 'invalid_input');
    await refused(
      lanefold.runs.enqueue({ agent: 'a', input: 'x', strategy: 'compaction' as never }),
      'unknown_strategy',
    );
    expect(await wait(await lanefold.contexts.compact(id, { agent: 'a' }))).toMatchObject({
      status: 'completed',
      result: null,
    });
  });

  test('keeps a loaded skill', async () => {
    const { threadId } = await talked(1, () => ({ text: 'They talked.' }));
    const skill = [
      {
        kind: 'ai_message',
        payload: { role: 'assistant', content: '', tool_calls: [{ id: 's', name: 'skill', arguments: {} }] },
      },
      {
        kind: 'ai_message',
        payload: { role: 'tool', content: 'How to.', tool_call_id: 's', name: 'skill' },
        refs: { kind: 'skill_activation', durable: true },
      },
    ];
    await lanefold.database.pool.query('select lanefold.append_entries($1, $2::jsonb)', [
      threadId,
      JSON.stringify(skill),
    ]);
    await lanefold.threads.append(threadId, [{ message: { role: 'user', content: 'last' } }]);
    expect((await wait(await lanefold.contexts.compact(threadId))).status).toBe('completed');
    expect((await contextOf(lanefold, threadId)).map(([role, content]) => [role, content])).toEqual([
      ['system', 'Be kind.'],
      ['user', 'Summary of earlier messages:\nThey talked.'],
      ['assistant', ''],
      ['tool', 'How to.'],
      ['user', 'last'],
    ]);
  });
});

describe('a compaction of its own accord', () => {
  const contextPolicy = {
    maxInputTokens: 700,
    reserveOutputTokens: 0,
    keepLastTurns: 1,
    summarization: 'request_new',
  } as const;

  test('between rounds, a run over budget has its lane summarised and continues', async () => {
    let rounds = 0;
    const model = lanefold.model(async (call) => {
      if (asks(call)) return { text: `Looked ${rounds} times.`, usage: [600, 6] };
      return (rounds += 1) <= 4 ? { calls: [{ id: `c${rounds}`, name: 'look' }] } : { text: 'done' };
    });
    const { run, threadId, id } = await lanefold.run({ agent: 'a', model: model.id, input: 'look', contextPolicy });
    expect(run).toMatchObject({ status: 'completed', result: 'done' });
    const kinds = (await eventsOf(lanefold, threadId, id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'compaction_completed')).toHaveLength(1);
    const roles = model.calls.at(-1)!.prompt.map(({ role }) => role);
    expect(roles.slice(0, 3)).toEqual(['system', 'user', 'user']);
    expect(JSON.stringify(model.calls.at(-1)!.prompt)).toContain('Summary of earlier messages');
    const answer = (await entriesOf(lanefold, threadId)).at(-1)!;
    expect(answer.refs).not.toHaveProperty('dropped');
    const { rows } = await lanefold.database.pool.query('select lanefold.verify_call($1, $2) as ok', [
      threadId,
      answer.refs!['llm_call_id'],
    ]);
    expect(rows).toEqual([{ ok: true }]);
    expect(run.usage!.input_tokens).toBe(600 + 50);
    await expectSound(lanefold, threadId);
  });

  test('where that fails, the context is cut as by any other policy', async () => {
    let rounds = 0;
    const model = lanefold.model(async (call) => {
      if (asks(call)) return { text: '' };
      return (rounds += 1) <= 4 ? { calls: [{ id: `c${rounds}`, name: 'look' }] } : { text: 'done' };
    });
    const cutting = { ...contextPolicy, keepLastTurns: 0 };
    const { run, threadId, id } = await lanefold.run({
      agent: 'a',
      model: model.id,
      input: 'look',
      contextPolicy: cutting,
    });
    expect(run).toMatchObject({ status: 'completed', result: 'done' });
    expect(model.calls.filter(asks)).toHaveLength(1);
    expect((await eventsOf(lanefold, threadId, id)).map(({ kind }) => kind)).toContain('compaction_failed');
    expect((await entriesOf(lanefold, threadId)).at(-1)!.refs).toHaveProperty('dropped');
  });

  test('at a share of the budget, the end of a run asks for one', async () => {
    const { threadId, ask } = await talked(2, () => ({ text: 'They talked.' }));
    await ask({ contextPolicy: { maxInputTokens: 600, reserveOutputTokens: 0, keepLastTurns: 1, compactAt: 0.5 } });
    await until('a compaction has ended', async () =>
      (await lanefold.runs.list({ threadId })).data.some(
        ({ strategy, status }) => strategy === 'compaction' && status === 'completed',
      ),
    );
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual([
      'Be kind.',
      'Summary of earlier messages:\nThey talked.',
      'next',
      long,
    ]);
    const after = (await lanefold.runs.list({ threadId })).data.length;
    expect(after).toBe(4);
  });
});
