// @module-tag slow
import { APICallError, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import { defineAgent } from 'lanefold';
import { defineScorer } from 'lanefold/evals';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { startReceiver, type Receiver } from '../webhooks/receiver.ts';

const lastText = (prompt: LanguageModelV4Prompt): string => {
  const { content } = prompt.at(-1)!;
  return typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
};

describe('monitors', () => {
  let lanefold: TestLanefold;
  let receiver: Receiver;
  const scorers = [
    defineScorer({ name: 'short', score: ({ answer }) => ({ score: answer.length < 20, reason: `${answer.length}` }) }),
    defineScorer({
      name: 'broken',
      score: () => {
        throw new Error('It broke.');
      },
    }),
    defineScorer({ name: 'no-case', score: ({ case: of, run }) => of === null && run.agent !== '' }),
  ];
  const support = fakeModel(({ prompt }) => {
    const asked = lastText(prompt);
    if (asked === 'fail')
      throw new APICallError({ message: 'Refused.', url: 'x', requestBodyValues: {}, statusCode: 400 });
    return { text: asked === 'long' ? 'An answer that is far too long.' : 'Short.' };
  });
  const judge = fakeModel(({ prompt }) => ({
    text: JSON.stringify({
      reason: 'By the rubric.',
      score: lastText(prompt).includes('"answer": "Short."') ? 1 : 0.25,
    }),
  }));
  beforeAll(async () => {
    receiver = await startReceiver();
    lanefold = await startLanefold({
      scorers,
      privateWebhooks: true,
      priceOf: ({ model }) => {
        if (model.includes('unpriceable')) throw new TypeError('No price has this shape.');
        return undefined;
      },
      models: {
        'fake:unpriceable': support,
        'fake:support': support,
        'fake:judge': judge,
        'fake:stand-in': judge,
        'fake:down': fakeModel(() => {
          throw new APICallError({ message: 'Overloaded.', url: 'x', requestBodyValues: {}, statusCode: 529 });
        }),
      },
      agents: [
        defineAgent({ name: 'support', model: 'fake:support' }),
        defineAgent({ name: 'other', model: 'fake:support' }),
        defineAgent({ name: 'odd', model: 'fake:unpriceable' }),
        defineAgent({ name: 'judge', model: 'fake:judge' }),
      ],
    });
    await lanefold.startWorker({ sweepMs: 300 });
  });
  afterAll(async () => {
    await lanefold?.close();
    await receiver?.close();
  });

  const ask = async (input: string, agent = 'support') =>
    lanefold.runs.wait(await lanefold.runs.enqueue({ agent, input }));
  const scores = async (name: string) => (await lanefold.monitors.scores(name, { limit: 1_000 })).data;
  const done = (name: string, count: number) =>
    until(`${name} has ${count} scores`, async () => {
      const found = await scores(name);
      return found.length >= count && found.every(({ status }) => status === 'done');
    });

  test('score the runs that end, of their agents and in their share, once', async () => {
    const before = await ask('before');
    await lanefold.monitors.set('all', { sample: 1, scorers: ['short', 'broken', 'no-case'] });
    await lanefold.monitors.set('of-support', { sample: 1, agents: ['support'], scorers: ['short'] });
    await lanefold.monitors.set('some', { sample: 0.4, scorers: ['short'] });
    await lanefold.monitors.set('fewer', { sample: 0.2, scorers: ['short'] });
    const asked = Array.from({ length: 30 }, (_, i) =>
      ask(i % 3 === 0 ? 'long' : 'hello', i % 2 === 0 ? 'support' : 'other'),
    );
    const runs = await Promise.all([...asked, ask('fail')]);
    await done('all', runs.length);
    const all = await scores('all');
    expect(new Set(all.map(({ runId }) => runId))).toEqual(new Set(runs.map(({ id }) => id)));
    expect(all.map(({ runId }) => runId)).not.toContain(before.id);
    for (const { runId, score, scores: given, agent } of all) {
      const run = runs.find(({ id }) => id === runId)!;
      expect(agent).toBe(run.agent);
      if (run.status === 'failed') {
        expect([score, given]).toEqual([0, [expect.objectContaining({ scorer: 'run', score: 0 })]]);
        continue;
      }
      const short = run.result === 'Short.' ? 1 : 0;
      expect(score).toBe((short + 1) / 2);
      expect(given).toMatchObject([
        { scorer: 'short', score: short, reason: `${String(run.result).length}` },
        { scorer: 'broken', score: null, error: 'The scorer threw: It broke.' },
        { scorer: 'no-case', score: 1 },
      ]);
    }
    await done('of-support', 16);
    expect((await scores('of-support')).every(({ agent }) => agent === 'support')).toBe(true);
    const readOn = await lanefold.monitors.get('all');
    await until('all have read on', async () =>
      (await lanefold.monitors.list()).every(({ readTo }) => readTo >= readOn.readTo),
    );
    const some = new Set((await scores('some')).map(({ runId }) => runId));
    const fewer = (await scores('fewer')).map(({ runId }) => runId);
    expect(some.size).toBeLessThan(runs.length);
    expect(fewer.filter((id) => !some.has(id))).toEqual([]);
    for (const name of ['all', 'of-support', 'some', 'fewer']) await lanefold.monitors.remove(name);
    expect(await lanefold.monitors.list()).toEqual([]);
  });

  test('are not held up by a run that cannot be scored', async () => {
    await lanefold.monitors.set('odd', { sample: 1, scorers: ['short'] });
    const [odd, next] = [await ask('hello', 'odd'), await ask('hello')];
    await done('odd', 2);
    const byRun = new Map((await scores('odd')).map((one) => [one.runId, one]));
    expect(byRun.get(odd.id)).toMatchObject({
      score: null,
      scores: [{ scorer: 'run', error: 'No price has this shape.' }],
    });
    expect(byRun.get(next.id)).toMatchObject({ score: 1 });
    await lanefold.monitors.remove('odd');
  });

  test('ask a judge, whose threads are erased and not scored themselves', async () => {
    await lanefold.monitors.set('judged', {
      sample: 1,
      scorers: ['short'],
      rubric: 'Is short.',
      judge: { agent: 'judge', model: { try: ['fake:down', 'fake:stand-in'], firstTokenMs: 60_000 } },
    });
    expect((await lanefold.monitors.get('judged')).judge).toEqual({
      agent: 'judge',
      model: { try: ['fake:down', 'fake:stand-in'], firstTokenMs: 60_000 },
    });
    const [short, long] = [await ask('hello'), await ask('long')];
    await done('judged', 2);
    const byRun = new Map((await scores('judged')).map((one) => [one.runId, one]));
    expect(byRun.get(short.id)).toMatchObject({
      score: 1,
      scores: [{ scorer: 'short' }, { scorer: 'judge', score: 1, reason: 'By the rubric.', model: 'fake:stand-in' }],
    });
    expect(byRun.get(long.id)).toMatchObject({ score: 0.125 });
    expect((await lanefold.monitors.scores('judged', { below: 0.5 })).data.map(({ runId }) => runId)).toEqual([
      long.id,
    ]);
    await until('the threads of the judge are erased', async () => {
      const text = `select from lanefold.run r join lanefold.thread t on t.id = r.thread_id where r.agent = 'judge' and t.erased_at is null`;
      return (await lanefold.database.pool.query(text)).rowCount === 0;
    });
    await lanefold.threads.erase(long.threadId);
    expect((await scores('judged')).map(({ runId }) => runId)).toEqual([short.id]);
    await lanefold.monitors.remove('judged');
  });

  test('tell webhooks when scores are low, with the worst runs, and when they have recovered', async () => {
    await lanefold.webhooks.set('alerts', {
      url: `${receiver.url}/alerts`,
      types: ['monitor.low', 'monitor.recovered'],
    });
    await lanefold.monitors.set('watched', {
      sample: 1,
      agents: ['support'],
      scorers: ['short'],
      alert: { below: 0.7, of: 4 },
    });
    const events = () => receiver.at('/alerts').map(({ body }) => JSON.parse(body) as { type: string; data: object });
    const runs = await Promise.all(['hello', 'long', 'hello', 'long'].map((input) => ask(input)));
    await until('an alert came', () => events().length === 1);
    expect(events()[0]).toMatchObject({
      type: 'monitor.low',
      data: { monitor: 'watched', agents: ['support'], below: 0.7, of: 4, mean: 0.5 },
    });
    const { worst } = events()[0]!.data as { worst: { run_id: string; score: number }[] };
    const long = runs.filter(({ result }) => result !== 'Short.').map(({ id }) => id);
    expect(worst.map(({ score }) => score)).toEqual([0, 0, 1, 1]);
    expect(new Set(worst.slice(0, 2).map(({ run_id: id }) => id))).toEqual(new Set(long));
    expect((await lanefold.monitors.get('watched')).lowSince).not.toBeNull();
    for (const input of ['hello', 'hello', 'hello', 'hello']) await ask(input);
    await until('it has recovered', () => events().length === 2);
    expect(events()[1]).toMatchObject({ type: 'monitor.recovered', data: { mean: 1 } });
    expect((await lanefold.monitors.get('watched')).lowSince).toBeNull();
    await lanefold.monitors.remove('watched');
  });
});
