import { defineAgent, defineTool, type NewCase } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

describe('cases', () => {
  let lanefold: TestLanefold;
  const answering = fakeModel(({ prompt }) =>
    prompt.at(-1)!.role === 'tool'
      ? { text: 'You have 30 days.' }
      : { calls: [{ name: 'policy', args: { topic: 'refunds' } }] },
  );
  const policy = defineTool({ name: 'policy', input: z.object({ topic: z.string() }), execute: () => '30 days' });
  const agents = [
    defineAgent({ name: 'support', model: 'fake:answering', instructions: 'Be brief.', tools: [policy] }),
    defineAgent({
      name: 'changed',
      model: 'fake:plain',
      requestTransformer: ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'More.' }] }),
    }),
  ];
  beforeAll(async () => {
    const models = { 'fake:answering': answering, 'fake:plain': fakeModel([{ text: 'Well.' }]) };
    lanefold = await startLanefold({ agents, models });
    await lanefold.startWorker();
  });
  afterAll(() => lanefold?.close());

  const ask = async (threadId: string, agent = 'support') => {
    const run = await lanefold.runs.enqueue({ agent, input: 'Refund?', threadId, createThread: true });
    return lanefold.runs.wait(run);
  };
  const refusal = (given: object) =>
    lanefold.cases.keep(given as NewCase).then(
      () => 'kept',
      ({ code, details }: { code: string; details?: { field?: string; reason?: string } }) =>
        details?.field ?? details?.reason ?? code,
    );

  test('of a run and of a call are kept, listed, changed and removed', async () => {
    const run = await ask('kept');
    const expected = { contains: ['30 days'], tool: { name: 'policy', arguments: { topic: 'refunds' } } };
    const given = { threadId: 'kept', dataset: 'refunds', expected, tags: ['money', 'money'], split: 'test' };
    const first = await lanefold.cases.keep({ ...given, runId: run.id, note: 'Short.' }, { by: 'ada' });
    const call = await lanefold.contexts.call('kept', `${run.id}.2`);
    expect(first).toMatchObject({
      kind: 'run',
      dataset: 'refunds',
      tenant: 'default',
      threadId: 'kept',
      runId: run.id,
      llmCallId: `${run.id}.1`,
      agent: 'support',
      model: 'fake:answering',
      contextRef: 'default',
      expected,
      tags: ['money'],
      split: 'test',
      note: 'Short.',
      keptBy: 'ada',
      erasedAt: null,
      question: 'Refund?',
    });
    const second = await lanefold.cases.keep({ threadId: 'kept', dataset: 'refunds', llmCallId: `${run.id}.2` });
    expect(second).toMatchObject({
      kind: 'call',
      contextHash: call.contextHash,
      seq: call.seq - 1,
      expected: null,
      question: 'Refund?',
    });
    expect((await lanefold.cases.list({ dataset: 'refunds' })).data).toEqual([first, second]);
    expect((await lanefold.cases.list({ tag: 'money', split: 'test' })).data).toEqual([first]);
    expect((await lanefold.cases.list({ threadId: 'kept' })).data).toEqual([first, second]);
    expect((await lanefold.cases.list({ threadId: 'other' })).data).toEqual([]);
    const page = await lanefold.cases.list({ limit: 1 });
    expect((await lanefold.cases.list({ limit: 1, after: page.nextAfter! })).data).toEqual([second]);
    expect(await lanefold.cases.datasets()).toMatchObject([{ dataset: 'refunds', cases: 2, erased: 0 }]);
    const changed = await lanefold.cases.update(first.id, { expected: { answer: 'Yes.' }, split: null, tags: [] });
    expect(changed).toMatchObject({ expected: { answer: 'Yes.' }, split: null, tags: [], note: 'Short.' });
    await lanefold.cases.remove(second.id);
    await expect(lanefold.cases.get(second.id)).rejects.toMatchObject({ code: 'case_not_found' });
    await expect(lanefold.cases.remove(second.id)).rejects.toMatchObject({ code: 'case_not_found' });
    const audited = await lanefold.audit.list({ threadId: 'kept' });
    const acts = audited.map(({ action, actor }) => `${action} by ${actor}`).filter((act) => act.startsWith('cases.'));
    expect(acts.toSorted()).toEqual([
      'cases.keep by ada',
      'cases.keep by operator',
      'cases.remove by operator',
      'cases.update by operator',
    ]);
  });

  test('that could not ask what was asked are refused, and so are mistakes', async () => {
    const run = await ask('refused');
    const other = await ask('transformed', 'changed');
    const given = { threadId: 'refused', dataset: 'bad' };
    expect(await refusal({ threadId: 'transformed', dataset: 'bad', llmCallId: `${other.id}.1` })).toBe('transformed');
    expect(await refusal({ threadId: 'transformed', dataset: 'bad', runId: other.id })).toBe('transformed');
    expect(await refusal({ ...given })).toBe('runId');
    expect(await refusal({ ...given, runId: run.id, llmCallId: `${run.id}.1` })).toBe('llmCallId');
    expect(await refusal({ ...given, runId: 'none' })).toBe('run_not_found');
    expect(await refusal({ ...given, llmCallId: 'none.1' })).toBe('call_not_found');
    expect(await refusal({ ...given, threadId: 'none', runId: run.id })).toBe('thread_not_found');
    const own = { ...given, runId: run.id };
    expect(await refusal({ ...own, dataset: 'a b' })).toBe('invalid_id');
    expect(await refusal({ ...own, more: 1 })).toBe('invalid_input');
    for (const [field, more] of [
      ['tags', { tags: 'x' }],
      ['tags', { tags: [' '] }],
      ['split', { split: '' }],
      ['note', { note: 'x'.repeat(4_001) }],
      ['note', { note: '\u0000' }],
      ['expected', { expected: {} }],
      ['expected', { expected: { anwser: 'x' } }],
      ['expected', { expected: { answer: '\ud800' } }],
      ['expected', { expected: { answer: 'x'.repeat(70_000) } }],
      ['expected.contains', { expected: { contains: [] } }],
      ['expected.tool.name', { expected: { tool: {} } }],
      ['expected.tool.arguments', { expected: { tool: { name: 'x', arguments: [] } } }],
    ] as const)
      expect(await refusal({ ...own, ...more }), JSON.stringify(more).slice(0, 80)).toBe(field);
    expect((await lanefold.cases.list({ dataset: 'bad' })).data).toEqual([]);
    const kept = await lanefold.cases.keep({ ...given, runId: run.id });
    await expect(lanefold.cases.keep({ ...given, runId: run.id })).rejects.toMatchObject({
      code: 'case_exists',
      details: { case_id: kept.id },
    });
  });

  test('of a run that has not ended are refused', async () => {
    await lanefold.threads.create({ id: 'unended' });
    const run = await lanefold.runs.enqueue({ agent: 'support', input: 'x', threadId: 'unended', delayMs: 600_000 });
    expect(await refusal({ threadId: 'unended', dataset: 'bad', runId: run.id })).toBe('runId');
    await lanefold.runs.cancel(run);
    expect(await refusal({ threadId: 'unended', dataset: 'bad', runId: run.id })).toBe('runId');
  });

  test('stay listed after their thread was erased, and say so', async () => {
    const run = await ask('erased');
    const given = { threadId: 'erased', runId: run.id, expected: { answer: 'a secret' }, note: 'a secret' };
    const kept = await lanefold.cases.keep({ ...given, dataset: 'gone' });
    await lanefold.threads.erase('erased');
    const [left] = (await lanefold.cases.list({ dataset: 'gone' })).data;
    expect(left).toMatchObject({
      id: kept.id,
      erasedAt: expect.any(Date) as Date,
      expected: null,
      note: null,
      question: null,
    });
    expect(JSON.stringify(left)).not.toContain('secret');
    expect(await lanefold.cases.datasets()).toContainEqual(
      expect.objectContaining({ dataset: 'gone', cases: 1, erased: 1 }),
    );
    await expect(lanefold.cases.update(kept.id, { note: 'x' })).rejects.toMatchObject({ code: 'case_erased' });
    await lanefold.cases.remove(kept.id);
  });
});
