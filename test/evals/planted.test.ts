// @module-tag long
import { createHash } from 'node:crypto';
import { defineAgent, type AgentDefinition } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

/** A number from 0 to 1 that its arguments alone decide: the noise of a model. */
const noise = (...parts: unknown[]): number =>
  createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE(0) / 2 ** 32;

const cases = 12;
const repeats = 20;
/** How often a prompt leads to the right answer, for a question of medium difficulty. */
const rates: Record<string, number> = { 'Look it up.': 0.9, 'Please look it up first.': 0.9, 'Guess.': 0.6 };

/** Right as often as its prompt and the difficulty of the question say, and otherwise as the noise has it. */
function noisyModel() {
  const asked = new Map<string, number>();
  return fakeModel(({ prompt }) => {
    const [system, user] = [
      prompt.find(({ role }) => role === 'system'),
      prompt.findLast(({ role }) => role === 'user'),
    ];
    const instructions = system!.content as string;
    const question = JSON.stringify(user!.content);
    const key = `${instructions} ${question}`;
    const n = asked.get(key) ?? 0;
    asked.set(key, n + 1);
    const rate = rates[instructions]! - 0.15 * noise('difficulty', question);
    return { text: noise('answer', key, n) < rate ? 'Within 30 days.' : 'I do not know.' };
  });
}

const support = (version: string, instructions: string): AgentDefinition =>
  defineAgent({ name: 'support', version, model: 'fake:noisy', instructions });

let lanefold: TestLanefold;
beforeAll(async () => {
  lanefold = await startLanefold({
    agents: [
      support('now', 'Look it up.'),
      support('reworded', 'Please look it up first.'),
      support('worse', 'Guess.'),
    ],
    models: { 'fake:noisy': noisyModel() },
  });
  await lanefold.startWorker({ concurrency: 20 });
  for (let i = 0; i < cases; i++) {
    const run = await lanefold.runs.enqueue({ agent: 'support', input: `Refund of order ${i}?` });
    await lanefold.runs.wait(run);
    const expected = { contains: ['30 days'] };
    await lanefold.cases.keep({ threadId: run.threadId, runId: run.id, dataset: 'refunds', expected });
  }
});
afterAll(() => lanefold?.close());

test('a prompt made worse on purpose is found, and one that is only reworded is not', async () => {
  const { id } = await lanefold.evals.run({
    dataset: 'refunds',
    repeats,
    concurrency: 20,
    variants: [{ version: 'now' }, { version: 'reworded' }, { version: 'worse' }],
  });
  expect(await lanefold.evals.wait(id, { timeoutMs: 170_000 })).toMatchObject({
    status: 'completed',
    items: { done: cases * repeats * 3, failed: 0 },
  });
  const { comparisons } = await lanefold.evals.report(id);
  const [reworded, worse] = comparisons;
  expect(reworded).toMatchObject({ candidate: 'reworded', verdict: 'no_difference', cases, pairs: cases * repeats });
  expect(reworded!.difference.low!).toBeLessThan(0);
  expect(reworded!.difference.high!).toBeGreaterThan(0);
  expect(worse).toMatchObject({ candidate: 'worse', verdict: 'worse', cases, pairs: cases * repeats });
  expect(worse!.difference.high!).toBeLessThan(0);
  // it lies around the difference that was planted
  expect(worse!.difference.low!).toBeLessThan(-0.3);
  expect(worse!.difference.mean!).toBeLessThan(-0.2);
});
