// @module-tag long
import { createLanefold, defineAgent, type EvalDefinition, type Lanefold, type RunningWorker } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const patience = { timeout: 60_000, interval: 200 };

describe('what becomes of items', () => {
  let lanefold: TestLanefold;
  let changed: Lanefold | undefined;
  let worker: RunningWorker;
  const models = {
    'fake:plain': fakeModel([{ text: 'Fine.' }]),
    'fake:judge': fakeModel([{ text: JSON.stringify({ reason: 'Polite.', score: 1 }) }]),
  };
  const judge = defineAgent({ name: 'judge', model: 'fake:judge' });
  const thinker = defineAgent({ name: 'thinker', model: 'fake:plain', strategy: 'tot' });
  const limits = { maxCost: 0.5, maxDurationMs: 60_000 };
  beforeAll(async () => {
    const support = defineAgent({ name: 'support', model: 'fake:plain', ...limits });
    lanefold = await startLanefold({ agents: [support, judge, thinker], models, priceOf: () => 0.001 });
    worker = await lanefold.startWorker({ sweepMs: 500 });
  });
  afterAll(async () => {
    await changed?.close();
    await lanefold?.close();
  });

  const ask = async (threadId: string, more: object = {}) => {
    const request = { agent: 'support', input: 'Refund?', threadId, createThread: true, ...more };
    return lanefold.runs.wait(await lanefold.runs.enqueue(request));
  };
  const keep = async (threadId: string, dataset: string, more: object = {}) => {
    const { id: runId } = await ask(threadId, more);
    return lanefold.cases.keep({ threadId, runId, dataset, expected: { contains: ['Fine'], rubric: 'Is it polite?' } });
  };
  const ended = async (id: string) => {
    await lanefold.evals.wait(id);
    return lanefold.evals.items(id);
  };
  const evaluate = async (definition: EvalDefinition) => {
    const { id } = await lanefold.evals.run(definition);
    return { id, items: await ended(id) };
  };
  const isErased = (threadId: string | null) =>
    lanefold.threads.get(threadId!).then(
      () => false,
      ({ code }: { code: string }) => code === 'thread_erased',
    );
  const areErased = async (threads: (string | null)[]) =>
    expect.poll(async () => (await Promise.all(threads.map(isErased))).every(Boolean), patience).toBe(true);

  test('a judge that cannot be asked is a score with an error', async () => {
    await keep('unjudged', 'unjudged');
    const { items } = await evaluate({ dataset: 'unjudged', judge: { agent: 'thinker' } });
    expect(items).toMatchObject([{ status: 'done' }]);
    expect(items[0]!.scores.find(({ scorer }) => scorer === 'judge')).toMatchObject({
      score: null,
      error: expect.stringContaining('could not be asked') as string,
    });
  });

  test('limits of the agent stay where those of the eval are higher', async () => {
    await keep('limits', 'limits');
    const stored = async (definition: Partial<EvalDefinition>) => {
      const { items } = await evaluate({ dataset: 'limits', ...definition });
      const { rows } = await lanefold.database.pool.query(
        'select (options ->> $2)::float8 as cost, (options ->> $3)::float8 as ms from lanefold._run where id = $1',
        [items[0]!.runId, 'max_cost', 'max_duration_ms'],
      );
      return rows[0] as unknown;
    };
    expect(await stored({ maxCost: 100, maxDurationMs: 3_600_000 })).toEqual({ cost: 0.5, ms: 60_000 });
    expect(await stored({ maxCost: 0.1, maxDurationMs: 30_000, concurrency: 1 })).toEqual({ cost: 0.1, ms: 30_000 });
  });

  test('what the budget does not pay is skipped', async () => {
    const { id } = await evaluate({ dataset: 'limits', repeats: 3, maxCost: 0.001, concurrency: 1, fresh: true });
    expect(await lanefold.evals.get(id)).toMatchObject({
      status: 'completed',
      items: { done: 1, skipped: 2, failed: 0 },
    });
    expect((await lanefold.evals.items(id))[2]).toMatchObject({ error: 'The budget of the eval is used up.' });
  });

  test('an answer is reused only for the same request', async () => {
    const callOf = async (threadId: string, dataset: string, more: object) => {
      const { id } = await ask(threadId, more);
      await lanefold.cases.keep({ threadId, llmCallId: `${id}.1`, dataset });
      return (await evaluate({ dataset })).items[0]!.reused;
    };
    expect(await callOf('cold', 'cold', { settings: { temperature: 0 } })).toBe(false);
    expect(await callOf('warm', 'warm', { settings: { temperature: 1 } })).toBe(false);
    expect(await callOf('cold-too', 'cold-too', { settings: { temperature: 0 } })).toBe(true);
  });

  test('rescoring leaves an item without its thread as it was', async () => {
    await keep('rescored', 'rescored');
    const { id, items: before } = await evaluate({ dataset: 'rescored' });
    await lanefold.threads.erase(before[0]!.threadId!);
    await lanefold.evals.rescore(id);
    expect(await ended(id)).toEqual(before);
  });

  test('after an erasure no thread of an item or of a judge is left, also if the case was removed', async () => {
    const kept = await keep('removed', 'removed');
    const first = await evaluate({ dataset: 'removed', judge: { agent: 'judge' } });
    const again = await evaluate({ dataset: 'removed', judge: { agent: 'judge' } });
    expect(again.items).toMatchObject([{ reused: true, status: 'done' }]);
    await lanefold.cases.remove(kept.id);
    await lanefold.threads.erase('removed');
    for (const { id } of [first, again])
      expect(await lanefold.evals.items(id)).toMatchObject([{ status: 'erased', answer: null, scores: [], tags: [] }]);
    await areErased([...first.items, ...again.items].flatMap((item) => [item.threadId, item.judgeThreadId]));
  });

  test('after a removal no thread is left, also that of a judge of earlier scores', async () => {
    const kept = await keep('gone', 'gone');
    const { id, items: before } = await evaluate({ dataset: 'gone', judge: { agent: 'judge' } });
    await lanefold.cases.update(kept.id, { expected: { rubric: 'Is it short?' } });
    await lanefold.evals.rescore(id);
    const after = await ended(id);
    expect(after[0]!.judgeThreadId).not.toBe(before[0]!.judgeThreadId);
    await lanefold.evals.remove(id);
    await areErased([...before, ...after].flatMap((item) => [item.threadId, item.judgeThreadId]));
  });

  test('an answer waits for a worker that has the agent of the judge', async () => {
    const support = defineAgent({ name: 'support', model: 'fake:plain', strategy: 'tot' });
    const critic = defineAgent({ name: 'critic', model: 'fake:judge' });
    changed = await createLanefold({ ...lanefold.options, agents: [support, judge, thinker, critic] });
    const { id } = await changed.evals.run({ dataset: 'limits', judge: { agent: 'critic' } });
    // the other worker scores the items of a later eval meanwhile
    await evaluate({ dataset: 'unjudged', fresh: true });
    expect(await lanefold.evals.get(id)).toMatchObject({ status: 'running', items: { running: 1 } });
    const newer = await changed.startWorker({ sweepMs: 500 });
    const [item] = await ended(id);
    expect(item!.scores).toMatchObject([{ scorer: 'contains' }, { scorer: 'judge', score: 1 }]);
    await newer.stop();
  });

  test('a strategy is that of the agent now, unless the request named it', async () => {
    await keep('left-open', 'strategies');
    await keep('named', 'strategies', { strategy: 'react' });
    await worker.stop();
    const newer = await changed!.startWorker({ sweepMs: 500 });
    const { items } = await evaluate({ dataset: 'strategies' });
    await newer.stop();
    const runs = items.map(({ threadId, runId }) => lanefold.runs.get({ threadId: threadId!, id: runId! }));
    expect((await Promise.all(runs)).map(({ strategy }) => strategy)).toEqual(['tot', 'react']);
  });

  // from here on no worker is there until a test starts one

  test('items that a cancelled eval did not ask are skipped, and do not count', async () => {
    const { id } = await lanefold.evals.run({ dataset: 'unjudged', repeats: 3, fresh: true });
    expect(await lanefold.evals.cancel(id)).toMatchObject({ status: 'cancelled', items: { skipped: 3, failed: 0 } });
    const { variants } = await lanefold.evals.report(id);
    expect(variants).toMatchObject([{ skipped: 3, scored: 0, failures: 0, passRate: null }]);
  });

  const take = async (id: string) => {
    const text = `select lanefold.take_eval_items($1, '["support"]', -1) as item`;
    return ((await lanefold.database.pool.query(text, [id])).rows[0] as { item: { taken_at: string } }).item.taken_at;
  };
  /** Calls a function about the first item of an eval and a thread. Returns what it says, and whether the thread is to be erased. */
  const note = async (name: string, id: string, takenAt: string, threadId: string) => {
    const run = { tenant: 'default', thread_id: threadId, run_id: 'r' };
    const text = `select lanefold.${name}($1, 1, $2, $3) as noted`;
    const { rows } = await lanefold.database.pool.query(text, [id, takenAt, run]);
    return [(rows as { noted: boolean }[])[0]!.noted, await isToErase(threadId)];
  };
  const isToErase = async (threadId: string) => {
    const text = 'select erase_at is not null as erase from lanefold._eval_thread where thread_id = $1';
    return ((await lanefold.database.pool.query(text, [threadId])).rows as { erase: boolean }[])[0]?.erase;
  };

  test('a run that started too late is to be erased; one that another worker started too is not', async () => {
    const { id } = await lanefold.evals.run({ dataset: 'unjudged', fresh: true });
    const [first, second] = [await take(id), await take(id)];
    expect(await note('start_eval_item', id, first, 'late')).toEqual([false, false]);
    expect(await note('start_eval_item', id, second, 'late')).toEqual([true, false]);
    await lanefold.evals.cancel(id);
    expect(await isToErase('late')).toBe(false);
    expect(await note('start_eval_item', id, second, 'later')).toEqual([false, true]);
  });

  test('a run that a dead worker may have started is erased after a cancel', async () => {
    const { id } = await lanefold.evals.run({ dataset: 'unjudged', fresh: true });
    const [first, second] = [await take(id), await take(id)];
    expect(await note('plan_eval_run', id, first, 'overtaken')).toEqual([false, undefined]);
    expect(await note('plan_eval_run', id, second, 'planned')).toEqual([true, false]);
    await lanefold.evals.cancel(id);
    expect(await isToErase('planned')).toBe(true);
  });

  test('a start that fails uses nothing of the budget', async () => {
    const [first] = (await lanefold.cases.list({ dataset: 'strategies' })).data;
    const budget = { maxCost: 0.01, concurrency: 1, fresh: true };
    const { id } = await lanefold.evals.run({ dataset: 'strategies', ...budget });
    await lanefold.cases.remove(first!.id);
    const again = await lanefold.startWorker({ sweepMs: 500 });
    expect(await ended(id)).toMatchObject([{ status: 'failed', costMicros: 0 }, { status: 'done' }]);
    await again.stop();
  });

  test('erasing a tenant removes its cases and evals', async () => {
    await lanefold.threads.eraseTenant('default');
    expect((await lanefold.cases.list()).data).toEqual([]);
    expect((await lanefold.evals.list()).data).toEqual([]);
    const left = 'select from lanefold._eval_item union all select from lanefold._case';
    expect((await lanefold.database.pool.query(left)).rowCount).toBe(0);
  });
});
