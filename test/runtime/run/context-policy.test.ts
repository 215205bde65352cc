// @module-tag slow
import {
  contextHash,
  createLanefold,
  defineAgent,
  defineTool,
  type EnqueueOptions,
  type JsonObject,
  type ContextPolicy,
} from 'lanefold';
import fc from 'fast-check';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalMessage } from '../../../src/agent/context/canonical.ts';
import { cases } from '../../support/cases.ts';
import { fakeModel } from '../../support/fake-model.ts';
import { entriesOf } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const text = 'x'.repeat(360); // 100 tokens by the heuristic
const look = defineTool({ name: 'look', input: z.object({}), execute: () => text });

let lanefold: Runtime;
beforeAll(async () => {
  lanefold = await startRuntime(
    [
      defineAgent({ name: 'a', model: unset }),
      defineAgent({ name: 'tools', model: unset, tools: [look], cycleWarning: false, maxIterations: 20 }),
      defineAgent({ name: 'own', model: unset, contextPolicy: { maxMessages: 4, keepLastTurns: 1 } }),
    ],
    {
      tokenEstimators: {
        broken: () => {
          throw new Error('no vocabulary');
        },
        silent: () => new Promise<number>(() => {}),
        flat: () => 50,
      },
      projectors: {
        newest: ({ messages }) => messages.map((_, i) => i).filter((i) => i >= messages.length - 1),
        blind: () => [],
      },
    },
  );
});
afterAll(() => lanefold?.close());

const sent = (call: LanguageModelV4CallOptions | undefined) => call!.prompt.map(({ role }) => role[0]).join('');
const refsOf = async (threadId: string): Promise<JsonObject[]> =>
  (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'assistant').map((entry) => entry.refs);

/** Asks so many times on one thread; the calls that the model got. */
async function ask(times: number, options: Partial<EnqueueOptions>, threadId?: string) {
  const model = lanefold.model(() => ({ text }));
  let on = threadId === undefined ? {} : { threadId };
  for (let i = 0; i < times; i++) {
    const { threadId: id, run } = await lanefold.run({ agent: 'a', model: model.id, input: text, ...options, ...on });
    expect(run.status).toBe('completed');
    on = { threadId: id };
  }
  return { calls: model.calls, threadId: (on as { threadId: string }).threadId };
}

test('a run without a policy, on a model nobody knows the window of, sends and records what it always did', async () => {
  const { calls, threadId } = await ask(3, {});
  expect(calls.map(sent)).toEqual(['u', 'uau', 'uauau']);
  expect(Object.keys((await refsOf(threadId))[2]!)).toEqual([
    'iteration',
    'llm_call_id',
    'context_hash',
    'agent_version',
  ]);
});

describe('a policy with a budget', () => {
  const policy = { maxInputTokens: 750, reserveOutputTokens: 0, keepLastTurns: 1 };

  test('drops the oldest turns when it is full, and keeps that cut while there is room', async () => {
    const { calls, threadId } = await ask(8, { contextPolicy: policy });
    // 7 messages fit; a cut leaves 70 %, which is 5
    expect(calls.map(sent)).toEqual(['u', 'uau', 'uauau', 'uauauau', 'uauau', 'uauauau', 'uauau', 'uauauau']);
    const refs = await refsOf(threadId);
    expect(refs.map((ref) => ref['dropped'] ?? null)).toEqual([
      null,
      null,
      null,
      null,
      [[0, 3]],
      [[0, 3]],
      [[0, 7]],
      [[0, 7]],
    ]);
    expect(new Set(refs.map((ref) => ref['policy_hash'])).size).toBe(1);
    expect(refs[4]!['estimated_tokens']).toBe(500);
  });

  test('is the log’s: a process that has never seen the lane continues with its cut', async () => {
    const { threadId } = await ask(5, { contextPolicy: policy });
    const model = fakeModel([{ text }]);
    const other = await createLanefold({ ...lanefold.options, queuePrefix: 'other', models: { other: model } });
    try {
      await other.startWorker();
      const run = await other.runs.enqueue({
        agent: 'a',
        model: 'other',
        input: text,
        threadId,
        contextPolicy: policy,
      });
      await other.runs.wait(run);
      expect(sent(model.calls[0])).toBe('uauauau');
    } finally {
      await other.close();
    }
  });

  test('begins without a cut under another policy, and after an anchor', async () => {
    const { threadId } = await ask(5, { contextPolicy: policy });
    const wider = await ask(1, { contextPolicy: { ...policy, maxInputTokens: 5_000 } }, threadId);
    expect(sent(wider.calls[0])).toBe('uauauauauau');
    await lanefold.contexts.replace(threadId, { entries: [{ role: 'user', content: 'In short.' }] });
    const anchored = await ask(1, { contextPolicy: policy }, threadId);
    expect(sent(anchored.calls[0])).toBe('uu');
  });
});

test('a request wins over its thread, and that over the agent', async () => {
  const two = { maxMessages: 2, keepLastTurns: 1 };
  const { calls, threadId } = await ask(4, { agent: 'own' });
  expect(calls.map(sent)).toEqual(['u', 'uau', 'u', 'uau']);
  await lanefold.threads.configure(threadId, { contextPolicy: two });
  expect((await lanefold.threads.config(threadId)).contextPolicy).toMatchObject({ max_messages: 2 });
  expect(sent((await ask(1, { agent: 'own' }, threadId)).calls[0])).toBe('u');
  expect(sent((await ask(1, { agent: 'own', contextPolicy: {} }, threadId)).calls[0])).toBe('uauauauauau');
  await lanefold.threads.configure(threadId, { contextPolicy: null });
  expect((await lanefold.threads.config(threadId)).contextPolicy).toBeNull();
});

test('a long turn is cut inside where the window would overflow: question and newest tools stay', async () => {
  const model = lanefold.model((_, n) => (n < 9 ? { calls: [{ name: 'look' }] } : { text: 'done' }));
  const windowed = { maxInputTokens: 800, reserveOutputTokens: 0, keepLastTurns: 0 };
  const { run, threadId } = await lanefold.run({
    agent: 'tools',
    model: model.id,
    input: 'go',
    contextPolicy: windowed,
  });
  expect(run).toMatchObject({ status: 'completed', result: 'done' });
  const sizes = model.calls.map((call) => call.prompt.length);
  expect(Math.max(...sizes)).toBeLessThan(15);
  for (const call of model.calls) {
    expect(call.prompt[0]).toMatchObject({ role: 'user', content: [{ text: 'go' }] });
    expect(call.prompt.filter(({ role }) => role === 'tool')).toHaveLength(
      call.prompt.filter(({ role }) => role === 'assistant').length,
    );
  }
  expect((await refsOf(threadId)).at(-1)!['dropped']).toEqual([[1, expect.any(Number)]]);
});

test('the prompt of a policy is sent in place of the lane’s', async () => {
  const { calls } = await ask(1, { contextPolicy: { systemPrompt: 'Be brief.' } });
  expect(calls[0]!.prompt[0]).toEqual({ role: 'system', content: 'Be brief.' });
});

test.each([
  ['broken', 'estimator_failed'],
  ['silent', 'estimator_slow'],
])('an estimator that is %s is replaced by the heuristic, with a mark', async (tokenEstimator, mark) => {
  const { threadId } = await ask(1, { contextPolicy: { maxInputTokens: 5_000, tokenEstimator } });
  expect(await refsOf(threadId)).toMatchObject([{ policy_marks: [mark], estimated_tokens: 100 }]);
});

test('an estimator of one’s own counts, and a projector chooses, unless it drops the question', async () => {
  const own = await ask(3, {
    contextPolicy: { maxInputTokens: 150, reserveOutputTokens: 0, keepLastTurns: 1, tokenEstimator: 'flat' },
  });
  expect(own.calls.map(sent)).toEqual(['u', 'uau', 'u']);
  const newest = await ask(3, { contextPolicy: { projector: 'newest' } });
  expect(newest.calls.map(sent)).toEqual(['u', 'u', 'u']);
  const blind = await ask(2, { contextPolicy: { projector: 'blind' } });
  expect(blind.calls.map(sent)).toEqual(['u', 'uau']);
  expect((await refsOf(blind.threadId))[1]!['policy_marks']).toEqual(['unknown_window', 'projector_failed']);
});

test('what the provider counts corrects the heuristic of its model', async () => {
  const model = lanefold.model(() => ({ text, usage: [200, 5] }));
  const policy = { maxInputTokens: 5_000 };
  const first = await lanefold.run({ agent: 'a', model: model.id, input: text, contextPolicy: policy });
  await lanefold.run({ agent: 'a', model: model.id, input: text, contextPolicy: policy, threadId: first.threadId });
  expect((await refsOf(first.threadId)).map((ref) => ref['estimated_tokens'])).toEqual([100, 600]);
  const { meta } = await lanefold.contexts.project(first.threadId, { policy, model: model.id });
  // the provider counted twice as many as the heuristic, then two thirds as many
  expect(meta.estimator).toMatchObject({ name: 'calibrated', calls: 2, ratio: expect.closeTo(2 + 0.2 * (2 / 3 - 2)) });
  expect(meta.estimator.error).toBeGreaterThan(0.5);
});

test.each([
  [{ contextPolicy: 'huge' }, 'invalid_policy'],
  [{ contextPolicy: { maxInputTokens: 10, reserveOutputTokens: 10 } }, 'invalid_policy'],
  [{ contextPolicy: { tokenEstimator: 'nobody' } }, 'invalid_policy'],
  [{ contextPolicy: { projector: 'nobody' } }, 'invalid_policy'],
  [{ contextPolicy: { maxInputTokens: 'window' } }, 'unknown_window'],
])('%j is refused, and nothing is written', async (wrong, code) => {
  const options = { agent: 'a', input: 'x', threadId: 'refused', createThread: true, ...wrong } as EnqueueOptions;
  await expect(lanefold.runs.enqueue(options)).rejects.toMatchObject({ code });
  await expect(lanefold.threads.get('refused')).rejects.toMatchObject({ code: 'thread_not_found' });
});

test('a thread refuses a policy that it could not use', async () => {
  const { id } = await lanefold.threads.create();
  await expect(lanefold.threads.configure(id, { contextPolicy: { maxMessages: -1 } })).rejects.toMatchObject({
    code: 'invalid_policy',
  });
  expect((await lanefold.threads.get(id)).rev).toBe(0);
});

test('an agent has its prompt as instructions', () => {
  expect(() => defineAgent({ name: 'x', model: unset, contextPolicy: { systemPrompt: 'no' } })).toThrow(
    expect.objectContaining({ code: 'invalid_agent' }),
  );
});

describe('contexts.project', () => {
  const turn = fc.record({ asked: fc.integer({ min: 1, max: 600 }), rounds: fc.integer({ min: 0, max: 3 }) });
  const history = fc.record({
    before: fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 8 }),
    turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
    policy: fc.record({
      maxInputTokens: fc.integer({ min: 150, max: 900 }),
      maxMessages: fc.constantFrom(0, 3, 7),
      keepLastTurns: fc.integer({ min: 0, max: 2 }),
      includeKinds: fc.constantFrom<NonNullable<ContextPolicy['includeKinds']>>(
        ['message'],
        ['message', 'tool_call', 'tool_result', 'summary'],
      ),
    }),
    by: fc.constantFrom('thread' as const, 'request' as const),
  });

  /** A history that is cut, whatever chance adds. */
  const sure = {
    before: [],
    turns: Array.from({ length: 4 }, () => ({ asked: 300, rounds: 0 })),
    policy: { maxInputTokens: 400, maxMessages: 0 as const, keepLastTurns: 1, includeKinds: ['message' as const] },
    by: 'request' as const,
  };

  test('shows of every moment the messages that the model call was sent next', async () => {
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(history, async ({ before, turns, policy: given, by }) => {
        const policy = { ...given, reserveOutputTokens: 0, tokenEstimator: 'heuristic' };
        const { id: threadId } = await lanefold.threads.create({ systemPrompt: 'Be brief.' });
        const messages = before.map((length, i) => ({
          message: { role: i % 2 === 0 ? ('user' as const) : ('assistant' as const), content: 'b'.repeat(length) },
        }));
        if (messages.length > 0) await lanefold.threads.append(threadId, messages);
        if (by === 'thread') await lanefold.threads.configure(threadId, { contextPolicy: policy });
        for (const { asked, rounds } of turns) {
          const calls = Array.from({ length: rounds }, () => ({ calls: [{ name: 'look', args: {} }] }));
          const model = lanefold.model([...calls, { text: 'a'.repeat(asked) }]);
          const override = by === 'request' ? { contextPolicy: policy } : {};
          const { run } = await lanefold.run({
            agent: 'tools',
            model: model.id,
            input: 'q'.repeat(asked),
            threadId,
            ...override,
          });
          expect(run.status).toBe('completed');
        }
        for (const { seq, role, refs, runId } of await entriesOf(lanefold, threadId)) {
          if (role !== 'assistant' || runId === null) continue;
          const view = by === 'request' ? { policy } : {};
          const shown = await lanefold.contexts.project(threadId, { atSeq: seq - 1, explain: true, ...view });
          expect(contextHash(shown.messages.map(canonicalMessage))).toBe(refs['context_hash']);
          expect(shown.meta.estimated_tokens + shown.meta.tool_tokens).toBe(refs['estimated_tokens']);
          if (shown.explain!.some(({ reason }) => reason === 'cut_before')) moved += 1;
        }
      }),
      { numRuns: cases(4), examples: [[sure]] },
    );
    // of some calls the cut of an earlier one was in force
    expect(moved).toBeGreaterThan(0);
  });

  test('is of an earlier moment what the agent of then would have been sent', async () => {
    const { threadId } = await ask(2, { agent: 'a' });
    await ask(1, { agent: 'own' }, threadId);
    const limitAt = async (at: { atSeq?: number }) =>
      (await lanefold.contexts.project(threadId, { explain: true, ...at })).policy.max_messages;
    expect(await limitAt({})).toBe(4);
    expect(await limitAt({ atSeq: 4 })).toBe(4);
    expect(await limitAt({ atSeq: 3 })).toBe(0);
  });

  test('shows what the budget alone would let through, where it is asked to', async () => {
    const policy = { maxInputTokens: 850, reserveOutputTokens: 0, keepLastTurns: 1, tokenEstimator: 'heuristic' };
    const { threadId } = await ask(5, { contextPolicy: policy });
    const rows = async (more: object) => {
      const { explain, messages } = await lanefold.contexts.project(threadId, { policy, explain: true, ...more });
      return [messages.length, explain!.filter(({ reason }) => reason === 'cut_before').length];
    };
    // ten messages; the last call cut to 70 % of the budget, and the next one begins with that
    expect(await rows({})).toEqual([6, 4]);
    expect(await rows({ fullBudget: true })).toEqual([8, 0]);
    expect((await lanefold.contexts.project(threadId, { policy, explain: true })).explain![0]).toMatchObject({
      included: false,
      message: { role: 'user', content: text },
    });
    await expect(lanefold.contexts.project(threadId, { policy, agent: 'nobody' })).rejects.toMatchObject({
      code: 'unknown_agent',
    });
  });
});
