// @module-tag slow
import { defineAgent } from 'lanefold';
import { defineScorer, type ScorerInput } from 'lanefold/evals';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onCitus } from '../support/services.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';

let lanefold: TestLanefold;
const scored: ScorerInput[] = [];
const thinks = deferred();
beforeAll(async () => {
  const seen = defineScorer({
    name: 'seen',
    score: async (input) => {
      scored.push(input);
      await thinks.promise;
      return input.feedback.every(({ rating }) => rating !== 'down');
    },
  });
  lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })], scorers: [seen] });
  await lanefold.startWorker();
});
afterAll(() => lanefold?.close());

async function answered(threadId?: string) {
  const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'hi', ...(threadId ? { threadId } : {}) });
  await lanefold.runs.wait(run);
  return run;
}
const marked = async (mark: 'liked' | 'disliked') =>
  (await lanefold.runs.list({ mark })).data.map(({ threadId }) => threadId);

test('feedback is an entry that no model sees, and a mark by which lists find the run', async () => {
  const run = await answered();
  const before = await lanefold.contexts.project(run.threadId);
  const given = { runId: run.id, rating: 'down', comment: 'Another order.', by: 'ann', opId: 'f1' } as const;
  const receipt = await lanefold.feedback.give(run.threadId, given);
  expect(receipt).toEqual({ seq: 2, answerSeq: 1, runId: run.id, duplicate: false });
  expect(await lanefold.feedback.give(run.threadId, given)).toEqual({ ...receipt, duplicate: true });
  await expect(lanefold.feedback.give(run.threadId, { ...given, rating: 'up' })).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  });
  expect(await lanefold.contexts.project(run.threadId)).toEqual(before);
  expect(await lanefold.threads.entries(run.threadId, { kind: 'feedback' })).toMatchObject([
    { seq: 2, contextRef: 'default', payload: { answer_seq: 1, rating: 'down', comment: 'Another order.', by: 'ann' } },
  ]);
  expect(await marked('disliked')).toEqual([run.threadId]);
  expect((await lanefold.threads.list({ mark: 'disliked' })).data.map(({ id }) => id)).toEqual([run.threadId]);

  // the last word of a person counts, and other people keep theirs
  await lanefold.feedback.give(run.threadId, { answerSeq: 1, rating: 'up', by: 'ann' });
  expect(await marked('disliked')).toEqual([]);
  expect(await marked('liked')).toEqual([run.threadId]);
  await lanefold.feedback.give(run.threadId, { answerSeq: 1, rating: 'down', by: 'bob' });
  expect(await marked('disliked')).toEqual([run.threadId]);
  await lanefold.feedback.give(run.threadId, { answerSeq: 1, by: 'bob' });
  expect(await marked('disliked')).toEqual([]);

  // the conversation goes on from the answer
  await answered(run.threadId);
  expect((await lanefold.contexts.project(run.threadId)).map(({ content }) => content)).toEqual([
    'hi',
    'hi',
    'hi',
    'hi',
  ]);
});

test('what names no answer is refused, and nothing is written', async () => {
  const run = await answered();
  const { id: other } = await lanefold.threads.create();
  for (const [threadId, given, code] of [
    [run.threadId, { answerSeq: 0, rating: 'up' }, 'invalid_input'],
    [run.threadId, { answerSeq: 99, rating: 'up' }, 'invalid_input'],
    [run.threadId, { runId: 'none', rating: 'up' }, 'invalid_input'],
    [run.threadId, { rating: 'up' }, 'invalid_input'],
    [run.threadId, { answerSeq: 1, runId: run.id, rating: 'up' }, 'invalid_input'],
    [run.threadId, { answerSeq: 1, rating: 'down', comment: 'a\0b' }, 'invalid_input'],
    [other, { runId: run.id, rating: 'up' }, 'invalid_input'],
    ['no-thread', { answerSeq: 1, rating: 'up' }, 'thread_not_found'],
  ] as const)
    await expect(lanefold.feedback.give(threadId, given)).rejects.toMatchObject({ code });
  await expect(
    lanefold.threads.append(run.threadId, [{ kind: 'feedback', payload: { answer_seq: 1 } }]),
  ).rejects.toMatchObject({ code: 'reserved_kind' });
  expect(await lanefold.feedback.list({ threadId: run.threadId })).toEqual({ data: [], nextAfter: null });
  expect((await lanefold.threads.get(run.threadId)).rev).toBe(2);
});

test('lists are newest first, filtered and paged, and survive an export', async () => {
  const run = await answered();
  for (const rating of ['up', 'down', 'up'] as const)
    await lanefold.feedback.give(run.threadId, { runId: run.id, rating, by: rating });
  const of = async (more = {}) => (await lanefold.feedback.list({ threadId: run.threadId, ...more })).data;
  expect((await of()).map(({ seq, rating, latest }) => [seq, rating, latest])).toEqual([
    [4, 'up', true],
    [3, 'down', true],
    [2, 'up', false],
  ]);
  expect(await of({ latest: true })).toMatchObject([{ seq: 4 }, { seq: 3, runId: run.id, agent: 'echo' }]);
  expect(await of({ rating: 'down', agent: 'echo' })).toMatchObject([{ seq: 3 }]);
  expect(await of({ agent: 'other' })).toEqual([]);
  const seen: number[] = [];
  let after: string | undefined;
  do {
    const page = await lanefold.feedback.list({ threadId: run.threadId, limit: 1, ...(after ? { after } : {}) });
    seen.push(...page.data.map(({ seq }) => seq));
    after = page.nextAfter ?? undefined;
  } while (after);
  expect(seen).toEqual([4, 3, 2]);

  // a distributed database exports nothing
  if (onCitus) return;
  const lines: string[] = [];
  for await (const line of lanefold.threads.export(run.threadId)) lines.push(line);
  const { id } = await lanefold.threads.import({ format: 'lanefold', lines }, { id: 'copy-of-liked' });
  const told = (all: Awaited<ReturnType<typeof of>>) => all.map(({ threadId: _, agentVersion: __, ...rest }) => rest);
  expect(told((await lanefold.feedback.list({ threadId: id })).data)).toEqual(told(await of()));
  expect(await marked('liked')).toContain(id);
});

test('monitors hand it to their scorers', async () => {
  await lanefold.monitors.set('rated', { sample: 1, scorers: ['seen'] });
  const first = await answered();
  await until('the monitor has begun with the first run', () => scored.some(({ run }) => run.id === first.id));
  // while the scorer thinks about the first run, the second ends and gets its feedback
  const second = await answered();
  await lanefold.feedback.give(second.threadId, { runId: second.id, rating: 'down', comment: 'no', by: 'ann' });
  thinks.resolve();
  await until('the second is scored', () => scored.some(({ run }) => run.id === second.id));
  expect(scored.map(({ run, feedback }) => [run.id, feedback])).toEqual([
    [first.id, []],
    [second.id, [{ rating: 'down', comment: 'no', by: 'ann' }]],
  ]);
});
