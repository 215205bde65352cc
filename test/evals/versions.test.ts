// @module-tag slow
import { createLanefold, defineAgent, type AgentDefinition, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const support = (version: string, answer: string): AgentDefinition =>
  defineAgent({
    name: 'support',
    version,
    model: `scripted:${JSON.stringify([answer])}`,
    instructions: `You are version ${version}.`,
  });
const both = [support('a', 'Within 30 days.'), support('b', 'Ask somebody else.')];

describe('evals of versions', () => {
  let lanefold: TestLanefold;
  let newer: Lanefold | undefined;
  let apart: Lanefold | undefined;
  let shared: Lanefold | undefined;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: both });
    await lanefold.startWorker({ sweepMs: 500 });
    const run = await lanefold.runs.enqueue({
      agent: 'support',
      input: 'Refund?',
      threadId: 'asked',
      createThread: true,
    });
    await lanefold.runs.wait(run);
    const expected = { contains: ['30 days'] };
    await lanefold.cases.keep({ threadId: 'asked', runId: run.id, dataset: 'refunds', expected });
  });
  afterAll(async () => {
    await apart?.close();
    await shared?.close();
    await newer?.close();
    await lanefold?.close();
  });

  test('ask a case again under each version, with its own prompt and model', async () => {
    const { id } = await lanefold.evals.run({ dataset: 'refunds', variants: [{ version: 'a' }, { version: 'b' }] });
    expect(await lanefold.evals.wait(id)).toMatchObject({ status: 'completed', items: { done: 2 } });
    const items = await lanefold.evals.items(id);
    expect(items.map(({ variant, answer, scores }) => [variant, answer, scores[0]?.score])).toEqual([
      ['a', 'Within 30 days.', 1],
      ['b', 'Ask somebody else.', 0],
    ]);
    const { rows } = await lanefold.database.pool.query(
      `select v.label, c.content #>> '{}' as prompt from lanefold.run r
       join lanefold.agent_version v on v.agent = r.agent and v.id = r.agent_version
       join lanefold.lane_context c on c.thread_id = r.thread_id and c.role = 'system'
       where r.id = $1`,
      [items[1]!.runId],
    );
    expect(rows).toEqual([{ label: 'b', prompt: 'You are version b.' }]);
    const { comparisons } = await lanefold.evals.report(id);
    expect(comparisons).toMatchObject([{ baseline: 'a', candidate: 'b', worse: 1, better: 0 }]);
  });

  test('a worker with a private queue runs the evals of that queue, and leaves all others to workers of shared ones', async () => {
    const agents = [...both, support('own', 'In 30 days, as always.')];
    apart = await createLanefold({ ...lanefold.options, agents, privateQueue: true, queuePrefix: 'apart' });
    shared = await createLanefold({ ...lanefold.options, agents });
    const definition = { dataset: 'refunds', variants: [{ version: 'own' }] };
    const { id: foreign } = await shared.evals.run(definition);
    const { id: own } = await apart.evals.run(definition);
    const worker = await apart.startWorker({ sweepMs: 500 });
    expect(await apart.evals.wait(own)).toMatchObject({ status: 'completed', items: { done: 1 } });
    await worker.stop();
    expect(await shared.evals.get(foreign)).toMatchObject({ status: 'running', items: { waiting: 1 } });
    await shared.evals.cancel(foreign);
  });

  test('an item waits for a worker that has its version', async () => {
    newer = await createLanefold({ ...lanefold.options, agents: [...both, support('c', 'In 30 days, or not.')] });
    const { id } = await newer.evals.run({ dataset: 'refunds', variants: [{ version: 'c' }] });
    // the worker of the others completes this one meanwhile, and leaves the first alone
    const known = await lanefold.evals.run({ dataset: 'refunds', variants: [{ version: 'b' }], fresh: true });
    await lanefold.evals.wait(known.id);
    expect(await lanefold.evals.get(id)).toMatchObject({
      status: 'running',
      items: { waiting: 1 },
      unattended: ['support@c'],
    });
    await expect(lanefold.evals.wait(id, { timeoutMs: 1 })).rejects.toMatchObject({
      code: 'wait_timeout',
      hint: 'No live worker has support@c. Start one that does, or cancel the eval.',
    });
    await newer.startWorker({ sweepMs: 500 });
    expect(await lanefold.evals.wait(id)).toMatchObject({ status: 'completed', items: { done: 1 } });
    expect((await lanefold.evals.items(id))[0]).toMatchObject({ answer: 'In 30 days, or not.' });
    await expect(lanefold.evals.run({ dataset: 'refunds', variants: [{ version: 'zzz' }] })).rejects.toMatchObject({
      code: 'unknown_version',
    });
  });
});
