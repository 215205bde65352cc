// @module-tag slow
import { APICallError, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import { agentTool, defineAgent, defineTool, type EvalDefinition, type LanefoldOptions } from 'lanefold';
import { defineScorer } from 'lanefold/evals';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel, type FakeTurn } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const textsOf = (prompt: LanguageModelV4Prompt, role: string): string[] =>
  prompt.filter((message) => message.role === role).map((message) => JSON.stringify(message.content));

/** Asks for the policy of the first question's topic, and answers with what the tool says. */
const support = (topic: string) =>
  fakeModel(({ prompt }): FakeTurn => {
    const last = prompt.at(-1)!;
    if (last.role !== 'tool') return { calls: [{ name: 'policy', args: { topic } }] };
    return { text: `It says ${textsOf(prompt, 'tool').at(-1)}` };
  });

describe('evals', () => {
  let lanefold: TestLanefold;
  let executed = 0;
  let tasks = 0;
  let noteAsked = () => {};
  const asked = new Promise<void>((resolve) => (noteAsked = resolve));
  const judgement = { reason: 'It is polite.', score: 0.75 };
  const models = {
    'fake:good': support('refunds'),
    'fake:bad': support('weather'),
    'fake:broken': fakeModel(() => new Error('out of order')),
    // answers only once its call is aborted
    'fake:slow': fakeModel(({ abortSignal }) => {
      noteAsked();
      return new Promise((_, reject) => abortSignal?.addEventListener('abort', () => reject(new Error('aborted'))));
    }),
    // gives the task to the other agent in words of its own each time it is asked
    'fake:delegate': fakeModel(({ prompt }): FakeTurn => {
      const last = prompt.at(-1)!;
      if (last.role === 'tool') return { text: textsOf(prompt, 'tool').at(-1)! };
      return { calls: [{ name: 'ask_support', args: { task: `task ${++tasks}` } }] };
    }),
    'fake:down': fakeModel(() => {
      throw new APICallError({ message: 'Overloaded.', url: 'x', requestBodyValues: {}, statusCode: 529 });
    }),
    'fake:judge': fakeModel([{ text: JSON.stringify(judgement) }]),
  };
  const policy = defineTool({
    name: 'policy',
    input: z.object({ topic: z.string() }),
    replay: 'never',
    execute: ({ topic }) => {
      executed += 1;
      return topic === 'refunds' ? '30 days' : 'sunny';
    },
  });
  const options: LanefoldOptions = {
    agents: [
      defineAgent({ name: 'support', model: 'fake:good', instructions: 'Be brief.', tools: [policy] }),
      defineAgent({ name: 'hasty', model: 'fake:good', tools: [policy], maxIterations: 1 }),
      defineAgent({ name: 'delegate', model: 'fake:delegate', tools: [agentTool('support')] }),
      defineAgent({ name: 'judge', model: 'fake:judge' }),
    ],
    models,
    scorers: [defineScorer({ name: 'short', score: ({ answer }) => answer.length < 1_000 })],
  };
  beforeAll(async () => {
    lanefold = await startLanefold(options);
    await lanefold.startWorker({ sweepMs: 500 });
  });
  afterAll(() => lanefold?.close());

  const ask = async (threadId: string, input = 'Refund?', agent = 'support') => {
    const run = await lanefold.runs.enqueue({ agent, input, threadId, createThread: true });
    return lanefold.runs.wait(run);
  };
  const evaluate = async (definition: EvalDefinition) => {
    const { id } = await lanefold.evals.run(definition);
    return lanefold.evals.wait(id);
  };

  test('ask the question of a run again, with recorded tools, and compare variants', async () => {
    await ask('one', 'Hello?');
    const run = await ask('one');
    const before = await lanefold.threads.entries('one');
    const expected = { contains: ['30 days'], tool: { name: 'policy', arguments: { topic: 'refunds' } } };
    const kept = await lanefold.cases.keep({ threadId: 'one', runId: run.id, dataset: 'runs', expected, tags: ['t'] });
    const ran = executed;
    const done = await evaluate({
      dataset: 'runs',
      variants: [{}, { model: 'fake:bad', name: 'bad' }],
      repeats: 2,
    });
    expect(done).toMatchObject({ status: 'completed', items: { done: 4, failed: 0, waiting: 0 }, dataset: 'runs' });
    const items = await lanefold.evals.items(done.id);
    expect(items.map(({ no, variant, repeat }) => [no, variant, repeat])).toEqual([
      [1, 'current', 1],
      [2, 'bad', 1],
      [3, 'current', 2],
      [4, 'bad', 2],
    ]);
    expect(items[0]).toMatchObject({
      caseId: kept.id,
      tags: ['t'],
      status: 'done',
      endedBy: null,
      diverged: null,
      reused: false,
      error: null,
      answer: expect.stringContaining('30 days') as string,
      inputTokens: 20,
      outputTokens: 10,
    });
    expect(items[0]!.scores.map(({ scorer, score }) => [scorer, score])).toEqual([
      ['contains', 1],
      ['tool', 1],
      ['short', 1],
    ]);
    expect(items[1]).toMatchObject({
      diverged: 'Call 1, policy({"topic":"weather"}), is not in the recorded run.',
      answer: expect.stringContaining('not_recorded') as string,
    });
    const report = await lanefold.evals.report(done.id);
    expect(report.variants.map(({ variant, scored }) => [variant, scored])).toEqual([
      ['current', 2],
      ['bad', 2],
    ]);
    expect(report.variants[0]!.score).toBeGreaterThan(report.variants[1]!.score!);
    // the tool never ran, the first context was the same, and the original thread is as it was
    expect(executed).toBe(ran);
    const call = await lanefold.contexts.call(items[0]!.threadId!, `${items[0]!.runId}.1`);
    expect(call.contextHash).toBe(kept.contextHash);
    expect(await lanefold.threads.entries('one')).toEqual(before);
  });

  test('say which limit ended a run before its answer; a case of a call allows for a tool call', async () => {
    const run = await ask('hasty', 'Refund?', 'hasty');
    const { id: runId } = run;
    const source = { threadId: 'hasty', dataset: 'hasty', expected: { contains: ['30 days'] } };
    const ofRun = await lanefold.cases.keep({ ...source, runId });
    const ofCall = await lanefold.cases.keep({ ...source, llmCallId: `${runId}.1` });
    const done = await evaluate({ dataset: 'hasty', variants: [{ name: 'a' }, { name: 'b', model: 'fake:bad' }] });
    const items = await lanefold.evals.items(done.id);
    const endings = (caseId: string) => items.filter((item) => item.caseId === caseId).map(({ endedBy }) => endedBy);
    expect(endings(ofRun.id)).toEqual(['max_iterations', 'max_iterations']);
    expect(endings(ofCall.id)).toEqual([null, null]);
    const { byCase } = (await lanefold.evals.report(done.id)).comparisons[0]!;
    expect(byCase.find(({ caseId }) => caseId === ofRun.id)!.candidateAnswer).toMatchObject({
      answer: 'policy({"topic":"weather"})',
      reasons: ['The run was ended by max_iterations.', expect.stringContaining('contains: ')],
    });
  });

  test('ask for the answer of a call again, with the same context, and stop there', async () => {
    const run = await ask('two');
    const dataset = 'calls';
    for (const n of [1, 2]) await lanefold.cases.keep({ threadId: 'two', llmCallId: `${run.id}.${n}`, dataset });
    const cases = (await lanefold.cases.list({ dataset })).data;
    const done = await evaluate({ dataset });
    const items = await lanefold.evals.items(done.id);
    expect(items.map(({ answer }) => answer)).toEqual([
      'policy({"topic":"refunds"})',
      expect.stringContaining('30 days') as string,
    ]);
    for (const [i, item] of items.entries()) {
      const call = await lanefold.contexts.call(item.threadId!, `${item.runId}.1`);
      expect(call).toMatchObject({ contextHash: cases[i]!.contextHash, verified: true });
      // one call of the model
      expect(item).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    }
  });

  test('reuse answers to the same question, unless they are to be fresh', async () => {
    const run = await ask('three');
    await lanefold.cases.keep({ threadId: 'three', runId: run.id, dataset: 'again', expected: { contains: ['30'] } });
    const reusedIn = async (definition: Partial<EvalDefinition>) => {
      const { id } = await evaluate({ dataset: 'again', ...definition });
      return (await lanefold.evals.items(id)).map(({ reused, scores }) => [reused, scores[0]?.score]);
    };
    expect(await reusedIn({})).toEqual([[false, 1]]);
    expect(await reusedIn({ repeats: 2 })).toEqual([
      [true, 1],
      [false, 1],
    ]);
    expect(await reusedIn({ fresh: true })).toEqual([[false, 1]]);
    expect(await reusedIn({ tools: 'stubs', stubs: { policy: 'never' } })).toEqual([[false, 0]]);
    expect(await reusedIn({ tools: 'live' })).toEqual([[false, 0]]);
    expect(await reusedIn({ variants: [{ systemPrompt: 'Other.' }] })).toEqual([[false, 1]]);
  });

  test('ask only the cases that are named, all of which the dataset must have', async () => {
    const runs = await Promise.all(['some-1', 'some-2', 'some-3'].map((threadId) => ask(threadId)));
    const kept = await Promise.all(
      runs.map(({ threadId, id }) => lanefold.cases.keep({ threadId, runId: id, dataset: 'some' })),
    );
    const chosen = [kept[2]!.id, kept[0]!.id];
    const { id, spec } = await evaluate({ dataset: 'some', caseIds: chosen });
    expect(spec.caseIds).toEqual(chosen);
    expect((await lanefold.evals.items(id)).map(({ caseId }) => caseId).sort()).toEqual(chosen.toSorted());
    const other = await lanefold.cases.keep({ threadId: 'some-1', runId: runs[0]!.id, dataset: 'other' });
    const evals = await lanefold.evals.list();
    await expect(lanefold.evals.run({ dataset: 'some', caseIds: [kept[0]!.id, other.id] })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { field: 'caseIds' },
    });
    expect(await lanefold.evals.list()).toEqual(evals);
  });

  test('start no run of another agent, whose tools would act', async () => {
    const run = await ask('delegated', 'Refund?', 'delegate');
    await lanefold.cases.keep({ threadId: 'delegated', runId: run.id, dataset: 'delegated' });
    const before = executed;
    const { id } = await evaluate({ dataset: 'delegated', tools: 'live' });
    const [item] = await lanefold.evals.items(id);
    expect(item).toMatchObject({ status: 'done', answer: expect.stringContaining('not_safe') });
    expect(executed).toBe(before);
  });

  test('let a judge score by the rubric, and score again by what cases expect now', async () => {
    const run = await ask('four');
    const expected = { rubric: 'Is it polite?' };
    const kept = await lanefold.cases.keep({ threadId: 'four', runId: run.id, dataset: 'judged', expected });
    const done = await evaluate({ dataset: 'judged', judge: { agent: 'judge' } });
    const judged = { scorer: 'judge', version: null, score: 0.75, reason: 'It is polite.', error: null };
    expect((await lanefold.evals.items(done.id))[0]!.scores).toContainEqual({ ...judged, model: 'fake:judge' });
    // a model that is down: the next one answers, and the score says so
    for (const model of [
      ['fake:down', 'fake:judge'],
      { try: ['fake:down', 'fake:judge'], firstTokenMs: 60_000 },
    ] as const) {
      const again = await evaluate({ dataset: 'judged', judge: { agent: 'judge', model }, fresh: true });
      expect(again.spec.judge).toEqual({ agent: 'judge', model });
      expect((await lanefold.evals.items(again.id))[0]!.scores).toContainEqual({ ...judged, model: 'fake:judge' });
    }
    await expect(
      lanefold.evals.run({ dataset: 'judged', judge: { agent: 'judge', model: ['fake:judge', 'fake:judge'] } }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
    await lanefold.cases.update(kept.id, { expected: { contains: ['40 days'] } });
    await lanefold.evals.rescore(done.id);
    await lanefold.evals.wait(done.id);
    const [item] = await lanefold.evals.items(done.id);
    expect(item!.scores).toMatchObject([{ scorer: 'contains', score: 0 }, { scorer: 'short' }]);
  });

  test('fail where the run fails, and cancel their runs when they are cancelled', async () => {
    const run = await ask('five');
    await lanefold.cases.keep({ threadId: 'five', runId: run.id, dataset: 'fail' });
    const failed = await evaluate({ dataset: 'fail', variants: [{ model: 'fake:broken' }] });
    expect(failed).toMatchObject({ status: 'completed', items: { failed: 1, done: 0 } });
    expect((await lanefold.evals.items(failed.id))[0]).toMatchObject({ error: 'out of order', answer: null });
    const slow = { dataset: 'fail', repeats: 20, concurrency: 1, variants: [{ model: 'fake:slow' as const }] };
    const { id } = await lanefold.evals.run(slow);
    await asked;
    const cancelled = await lanefold.evals.cancel(id);
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      items: { waiting: 0, running: 0, scoring: 0, skipped: 20 },
    });
    await expect(lanefold.evals.cancel(id)).rejects.toMatchObject({ code: 'eval_ended' });
    const [item, ...others] = await lanefold.evals.items(id);
    expect(others.every(({ runId }) => runId === null)).toBe(true);
    const started = { threadId: item!.threadId!, id: item!.runId! };
    expect(await lanefold.runs.wait(started)).toMatchObject({ status: 'cancelled' });
    await lanefold.evals.remove(id);
    await expect(lanefold.evals.get(id)).rejects.toMatchObject({ code: 'eval_not_found' });
  });

  test('leave out what was erased, and erase the threads of its runs', async () => {
    const run = await ask('six', 'My name is Secret');
    await lanefold.cases.keep({ threadId: 'six', runId: run.id, dataset: 'erased' });
    const done = await evaluate({ dataset: 'erased' });
    const [item] = await lanefold.evals.items(done.id);
    await lanefold.threads.erase('six');
    const [left] = await lanefold.evals.items(done.id);
    expect(left).toMatchObject({ status: 'erased', answer: null, scores: [] });
    await expect
      .poll(
        () =>
          lanefold.threads.get(item!.threadId!).then(
            () => 'there',
            ({ code }: { code: string }) => code,
          ),
        {
          timeout: 20_000,
        },
      )
      .toBe('thread_erased');
    await expect(lanefold.evals.run({ dataset: 'erased' })).rejects.toMatchObject({ code: 'dataset_empty' });
  });

  test.each<[object, object]>([
    [{ repeat: 3 }, { code: 'invalid_input', hint: 'Did you mean "repeats"?' }],
    [
      { variants: [{}, { modell: 'scripted:echo' }] },
      { hint: 'Did you mean "model"?', details: { field: 'variants.1' } },
    ],
    [{ variants: [{ name: ' ' }] }, { code: 'invalid_input', details: { field: 'variants.0.name' } }],
    [{ variants: [{ contextPolicy: { maxTokens: 1 } }] }, { code: 'invalid_policy' }],
    [{ variants: [{ model: 'none' }] }, { code: 'unknown_model' }],
    [{ judge: { agent: 'echo', modle: 'x' } }, { hint: 'Did you mean "model"?', details: { field: 'judge' } }],
    [{ tools: 'stub' }, { code: 'invalid_input', details: { field: 'tools' } }],
    [{ maxCost: 0 }, { code: 'invalid_input', details: { field: 'maxCost' } }],
    [{ stubs: { policy: '30 days' } }, { code: 'invalid_input', details: { field: 'stubs' } }],
  ])('that make no sense are refused: %j', async (wrong, error) => {
    const run = await ask('seven', 'Hi');
    await lanefold.cases.keep({ threadId: 'seven', runId: run.id, dataset: 'refused' }).catch(() => {});
    await expect(lanefold.evals.run({ dataset: 'refused', ...wrong })).rejects.toMatchObject(error);
  });
});
