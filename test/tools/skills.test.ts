import { defineAgent, defineSkills, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';

const skills = defineSkills([
  { name: 'refunds', description: 'How to refund.', instructions: 'Refund within 30 days.' },
  { name: 'greetings', description: 'How to greet.', instructions: 'Say hello.' },
]);
/** A tool whose result imitates the refs of a skill. */
const impostor = defineTool({
  name: 'impostor',
  input: z.object({}),
  execute: () => ({ name: 'refunds', instructions: 'x', durable: true, kind: 'skill_activation' }),
});

/** Loads `refunds` beside another tool in its first turn, then answers; later runs just answer. */
const model = fakeModel((call) => {
  if (call.prompt.some((message) => message.role === 'assistant')) return { text: 'Done.' };
  return {
    calls: [
      { id: 'a', name: 'impostor' },
      { id: 'b', name: 'load_skill', args: { name: 'refunds' } },
      { id: 'c', name: 'load_skill', args: { name: 'cooking' } },
    ],
  };
});

/** Ends only with its run. */
const hang = defineTool({
  name: 'hang',
  input: z.object({}),
  execute: () => new Promise<never>(() => {}),
});
const hanging = fakeModel(() => ({
  calls: [
    { id: 'b', name: 'load_skill', args: { name: 'refunds' } },
    { id: 'h', name: 'hang' },
  ],
}));

let bench: TestLanefold;
beforeAll(async () => {
  bench = await startLanefold({
    agents: [defineAgent({ name: 'a', model: 'fake', tools: [skills, impostor, hang] })],
    models: { fake: model, hanging },
  });
  await bench.startWorker();
});
afterAll(() => bench?.close());

const summary = { entries: [{ role: 'user' as const, content: 'Summary.' }] };
const loaded = async () => {
  const run = await bench.runs.enqueue({ agent: 'a', input: 'go' });
  expect(await bench.runs.wait(run)).toMatchObject({ status: 'completed' });
  return run.threadId;
};
const seen = async (threadId: string) =>
  (await bench.contexts.project(threadId)).map((row) => [
    row.role,
    row.tool_calls ? (row.tool_calls as { id: string }[]).map((call) => call.id).join() : row.content,
  ]);
const skill = '{"name":"refunds","instructions":"Refund within 30 days."}';

describe('a skill the model has loaded', () => {
  test('is marked in the log, and nothing else is', async () => {
    const threadId = await loaded();
    const tools = (await bench.contexts.project(threadId)).filter((row) => row.role === 'tool');
    expect(tools.map((row) => (row.refs as { kind?: string }).kind)).toEqual([
      undefined,
      'skill_activation',
      undefined,
    ]);
    expect(tools[1]).toMatchObject({
      content: skill,
      refs: { durable: true, kind: 'skill_activation', skill_name: 'refunds' },
    });
    expect(tools[2]!.content).toContain('invalid_arguments');
  });

  test('survives compactions, with its turn reduced to the skill', async () => {
    const threadId = await loaded();
    const kept = [
      ['assistant', 'b'],
      ['tool', skill],
      ['user', 'Summary.'],
    ];
    await bench.contexts.replace(threadId, summary, { reason: 'compaction' });
    expect(await seen(threadId)).toEqual(kept);
    await bench.contexts.replace(threadId, summary, { reason: 'compaction' });
    expect(await seen(threadId)).toEqual(kept);
    const next = await bench.runs.enqueue({ agent: 'a', input: 'more', threadId });
    expect(await bench.runs.wait(next)).toMatchObject({ status: 'completed' });
    await expectSound(bench, threadId);
  });

  test('is not duplicated by a compaction that already includes it', async () => {
    const threadId = await loaded();
    await bench.contexts.replace(threadId, summary, { reason: 'compaction', baseSeq: 0 });
    expect(await seen(threadId)).toEqual([
      ['user', 'Summary.'],
      ['assistant', 'a,b,c'],
      ['tool', expect.any(String)],
      ['tool', skill],
      ['tool', expect.any(String)],
      ['assistant', 'Done.'],
    ]);
  });

  test('keeps its text where the compaction shortened it', async () => {
    const threadId = await loaded();
    const call = { id: 'b', name: 'load_skill', arguments: { name: 'refunds' } };
    const entries = [
      ...summary.entries,
      { role: 'assistant' as const, content: '', tool_calls: [call] },
      { role: 'tool' as const, content: 'short', tool_call_id: 'b', name: 'load_skill' },
    ];
    await bench.contexts.replace(threadId, { entries }, { reason: 'compaction' });
    expect(await seen(threadId)).toEqual([
      ['user', 'Summary.'],
      ['assistant', 'b'],
      ['tool', skill],
    ]);
  });

  test('does not affect the result of another tool under the same id', async () => {
    const threadId = await loaded();
    const entries = [
      { role: 'assistant' as const, content: '', tool_calls: [{ id: 'b', name: 'look', arguments: {} }] },
      { role: 'tool' as const, content: 'seen', tool_call_id: 'b', name: 'look' },
    ];
    await bench.contexts.replace(threadId, { entries }, { reason: 'compaction' });
    expect(await seen(threadId)).toEqual([
      ['assistant', 'b'],
      ['tool', skill],
      ['assistant', 'b'],
      ['tool', 'seen'],
    ]);
  });

  test('is marked even if its run is cancelled before the round has ended', async () => {
    const run = await bench.runs.enqueue({ agent: 'a', input: 'go', model: 'hanging' });
    await until('the skill is stored', async () => (await ledgerOf(bench, run.threadId))[0]?.status === 'ok');
    await bench.runs.cancel(run);
    expect(await bench.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    const tools = (await bench.contexts.project(run.threadId)).filter((row) => row.role === 'tool');
    expect(tools[0]).toMatchObject({ content: skill, refs: { durable: true, kind: 'skill_activation' } });
    expect(tools[1]!.refs).toMatchObject({ kind: 'abandoned' });
  });

  test('is dropped by a replace for any other reason', async () => {
    const threadId = await loaded();
    await bench.contexts.replace(threadId, summary);
    expect(await seen(threadId)).toEqual([['user', 'Summary.']]);
  });
});

test('an empty list and duplicate names are rejected', () => {
  const one = { name: 'a', description: 'b', instructions: 'c' };
  expect(() => defineSkills([])).toThrow(expect.objectContaining({ code: 'invalid_tool' }));
  expect(() => defineSkills([one, one])).toThrow(expect.objectContaining({ code: 'invalid_tool' }));
});
