// @module-tag slow
import { readFileSync } from 'node:fs';
import { contextHash, defineAgent, defineTool, type Message } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { casesIn, parseRecording } from '../../src/ops/replay/recording.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

describe('datasets as files', () => {
  let lanefold: TestLanefold;
  const policy = defineTool({ name: 'policy', input: z.object({ topic: z.string() }), execute: () => '30 days' });
  const model = fakeModel(({ prompt }) =>
    prompt.at(-1)!.role === 'tool'
      ? { text: 'You have 30 days.' }
      : { calls: [{ name: 'policy', args: { topic: 'refunds' } }] },
  );
  const agents = [
    defineAgent({ name: 'support', model: 'fake:model', instructions: 'Be brief.', tools: [policy] }),
    defineAgent({ name: 'shop', model: 'fake:model', tools: [policy] }),
  ];
  beforeAll(async () => {
    lanefold = await startLanefold({ agents, models: { 'fake:model': model } });
    await lanefold.startWorker({ sweepMs: 500 });
  });
  afterAll(() => lanefold?.close());

  const ask = async (threadId: string) => {
    await lanefold.threads.create({ id: threadId, systemPrompt: `You are ${threadId}.` });
    const run = await lanefold.runs.enqueue({ agent: 'support', input: 'Refund?', threadId });
    return lanefold.runs.wait(run);
  };
  const exported = async (dataset: string) => {
    const lines: string[] = [];
    const all = lanefold.cases.export(dataset);
    let next = await all.next();
    for (; !next.done; next = await all.next()) lines.push(next.value);
    return { lines, counts: next.value };
  };
  const keep = async (threadId: string, dataset: string) => {
    const { id } = await ask(threadId);
    const expected = { contains: ['30 days'] };
    await lanefold.cases.keep({ threadId, runId: id, dataset, tags: ['money'], split: 'test', note: 'Short.' });
    await lanefold.cases.keep({ threadId, llmCallId: `${id}.2`, dataset, expected });
  };

  test('an imported dataset asks the same, and is exported as the same file', async () => {
    await keep('one', 'from');
    const { lines, counts } = await exported('from');
    expect(counts).toEqual({ cases: 2, erased: 0 });
    const read = lines.map((line) => JSON.parse(line) as { messages: Message[]; context_hash: string; kind: string });
    expect(read[1]!.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    for (const { messages, context_hash: hash } of read) expect(contextHash(messages)).toBe(hash);
    expect(read.map(({ kind }) => kind)).toEqual(['run', 'call']);
    expect(await lanefold.cases.import('to', lines, { by: 'ada' })).toEqual({
      dataset: 'to',
      imported: 2,
      skipped: [],
    });
    const { data } = await lanefold.cases.list({ dataset: 'to' });
    expect(data[0]).toMatchObject({
      kind: 'call',
      runId: null,
      llmCallId: null,
      contextHash: read[0]!.context_hash,
      agent: 'support',
      tags: ['money'],
      split: 'test',
      note: 'Short.',
      expected: null,
      keptBy: 'ada',
      seq: 0,
      question: 'Refund?',
    });
    expect((await exported('to')).lines).toEqual(lines.map((line) => line.replace('"kind":"run"', '"kind":"call"')));
    const { id } = await lanefold.evals.run({ dataset: 'to' });
    expect(await lanefold.evals.wait(id)).toMatchObject({ items: { done: 2, failed: 0 } });
    const items = await lanefold.evals.items(id);
    expect(items.map(({ answer }) => answer)).toEqual(['policy({"topic":"refunds"})', 'You have 30 days.']);
    expect(items[1]!.scores).toMatchObject([{ scorer: 'contains', score: 1 }]);
    const call = await lanefold.contexts.call(items[1]!.threadId!, `${items[1]!.runId!}.1`);
    expect(call.contextHash).toBe(read[1]!.context_hash);
  });

  test('what is there already is skipped, and what was erased stays erased', async () => {
    await keep('two', 'again');
    const { lines } = await exported('again');
    const own = await lanefold.cases.import('again', [...lines, '', lines[0]!]);
    expect(own.imported).toBe(0);
    expect(own.skipped.map(({ line, because }) => [line, because])).toEqual([
      [1, 'exists'],
      [2, 'exists'],
      [4, 'exists'],
    ]);
    const twice = await lanefold.cases.import('other', [...lines, lines[0]!]);
    expect(twice).toMatchObject({ imported: 2, skipped: [{ line: 3, because: 'repeated', caseId: null }] });
    const [first] = (await lanefold.cases.list({ dataset: 'other' })).data;
    await lanefold.cases.remove(first!.id);
    expect(await lanefold.cases.import('other', lines)).toMatchObject({ imported: 1, skipped: [{ line: 2 }] });
    await lanefold.threads.erase(first!.threadId);
    expect((await exported('other')).counts).toEqual({ cases: 1, erased: 1 });
    const erased = { line: 1, because: 'erased', caseId: first!.id };
    expect(await lanefold.cases.import('other', lines)).toMatchObject({ imported: 0, skipped: [erased, { line: 2 }] });
    await lanefold.cases.remove(first!.id);
    const gone = await lanefold.cases.import('other', lines);
    expect(gone.skipped[0]).toEqual({ ...erased, caseId: null });
  });

  test('a file with a bad line is refused with its number, and writes nothing', async () => {
    await keep('three', 'good');
    const { lines } = await exported('good');
    const good = JSON.parse(lines[1]!) as { messages: Message[] } & Record<string, unknown>;
    const withMessages = (messages: Message[]) => ({ ...good, messages, context_hash: contextHash(messages) });
    const bad: [RegExp, unknown][] = [
      [/was changed/, { ...good, messages: [...good.messages, { role: 'user', content: 'More.' }] }],
      [/lacks context_hash/, { ...good, context_hash: undefined }],
      [/field more/, { ...good, more: 1 }],
      [/version 2/, { ...good, version: 2 }],
      [/agent or a model/, { ...good, agent: ' ' }],
      [/kind/, { ...good, kind: 'both' }],
      [/not a list/, { ...good, messages: 'x' }],
      [/surrogate/, withMessages([{ role: 'user', content: '\u0000' }])],
      [/no message besides/, withMessages([{ role: 'system', content: 'x' }])],
      [/system message after/, withMessages([...good.messages, { role: 'system', content: 'x' }])],
      [/cannot be a context/, withMessages(good.messages.slice(0, 3))],
      [/invalid: expected.tool.name/, { ...good, expected: { tool: {} } }],
      [/invalid: split/, { ...good, split: '' }],
      [/not a JSON object/, [1]],
    ];
    for (const [message, line] of bad) {
      await expect(
        lanefold.cases.import('bad', [lines[0]!, JSON.stringify(line)]),
        String(message),
      ).rejects.toMatchObject({
        code: 'import_refused',
        message: expect.stringMatching(message) as string,
        details: { line: 2 },
      });
    }
    await expect(lanefold.cases.import('bad', [])).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(lanefold.cases.import('a b', lines)).rejects.toMatchObject({ code: 'invalid_id' });
    expect((await lanefold.cases.list({ dataset: 'bad' })).data).toEqual([]);
  });

  test('datasets of tenants stay apart', async () => {
    await keep('four', 'shared');
    const { lines } = await exported('shared');
    const acme = await lanefold.cases.import('shared', lines, { tenant: 'acme' });
    expect(acme).toMatchObject({ imported: 2, skipped: [] });
    expect((await exported('shared')).counts).toEqual({ cases: 2, erased: 0 });
    const { data } = await lanefold.cases.list({ dataset: 'shared' });
    expect(data.map(({ tenant }) => tenant)).toEqual(['default', 'default', 'acme', 'acme']);
    expect((await lanefold.threads.get(data[2]!.threadId)).tenantId).toBe('acme');
  });

  test('each turn of a recording is a case', async () => {
    const file = 'test/replay/fixtures/shop.json';
    const recording = parseRecording(file, readFileSync(file, 'utf8'));
    const lines = [...casesIn(recording, { agent: 'shop', model: 'fake:model' })];
    const turns = recording.conversations.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'assistant'),
    );
    expect(lines).toHaveLength(turns.length);
    const { imported, skipped } = await lanefold.cases.import('shop', lines);
    expect(imported + skipped.length).toBe(turns.length);
    expect(skipped.every(({ because }) => because === 'repeated')).toBe(true);
    const { data } = await lanefold.cases.list({ dataset: 'shop' });
    expect(data[0]!.expected).toEqual({ tool: { name: 'order', arguments: { no: 7, all: true } } });
    expect(data.map(({ contextHash: hash }) => hash)).toContain(
      (JSON.parse(lines[2]!) as { context_hash: string }).context_hash,
    );
  });
});
