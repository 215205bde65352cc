// @module-tag slow
import { agentResultTool, agentTool, defineAgent, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { expectSound, ledgerOf } from '../support/log.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const helper = defineAgent({ name: 'helper', model: 'fake:helper', instructions: 'Help.' });
const lead = defineAgent({
  name: 'lead',
  model: unset,
  maxToolResultBytes: 20_000,
  tools: [
    agentTool(helper),
    agentTool(helper, { name: 'brief', model: 'fake:other' }),
    agentTool(helper, { name: 'forked', context: 'fork' }),
    agentTool(helper, { name: 'spawn', wait: false }),
    agentResultTool(),
  ],
});

describe('what calls of agents have answered', () => {
  let lanefold: Runtime;
  /** What the agent `helper` was asked. */
  let asked: string[] = [];
  let answer: (task: string) => { text: string } | Error;
  beforeAll(async () => {
    const { fakeModel } = await import('../support/fake-model.ts');
    const model = fakeModel(async ({ prompt }) => {
      const [task] = prompt.filter(({ role }) => role === 'user').at(-1)!.content as { text: string }[];
      asked.push(task!.text);
      return answer(task!.text) as never;
    });
    lanefold = await startRuntime([lead, helper], {
      worker: { sweepMs: 50 },
      largeContentBytes: 4_096,
      models: { 'fake:helper': model, 'fake:other': model } as never,
    });
  });
  afterAll(() => lanefold?.close());

  const ended = (run: RunRef) => lanefold.runs.wait(run);
  const results = async (run: RunRef) =>
    (await ledgerOf(lanefold, run.threadId, run.id)).map(({ status, result }) => [status, result]);
  const ask = (name: string, task: string) => ({ id: `${name}-${task}`, name, args: { task } });
  /** A run that makes calls, and then answers `done`, or fails the first time. */
  const start = async (calls: object[], failing = false) => {
    asked = [];
    answer = (task) => ({ text: `answer to ${task}` });
    let failed = !failing;
    const model = lanefold.model(({ prompt }) => {
      if (prompt.at(-1)!.role !== 'tool') return { calls } as never;
      if (failed) return { text: 'done' };
      failed = true;
      return new Error('broken model') as never;
    });
    return lanefold.runs.enqueue({ agent: 'lead', model: model.id, input: 'go' });
  };

  test('a retry takes the answers that the run had, and asks what it had none to', async () => {
    const run = await start([ask('ask_helper', 'one'), ask('ask_helper', 'two'), ask('forked', 'three')], true);
    answer = (task) => (task === 'two' ? new Error('no answer') : { text: `answer to ${task}` });
    expect(await ended(run)).toMatchObject({ status: 'failed' });
    expect([...new Set(asked)].sort()).toEqual(['one', 'three', 'two']);
    asked = [];
    answer = (task) => ({ text: `second answer to ${task}` });
    const again = await lanefold.runs.retry(run);
    expect(await ended(again)).toMatchObject({ status: 'completed', result: 'done' });
    // the lane that was forked has grown
    expect(asked.sort()).toEqual(['three', 'two']);
    expect(await results(again)).toEqual([
      ['ok', 'answer to one'],
      ['ok', 'second answer to two'],
      ['ok', 'second answer to three'],
    ]);
    await expectSound(lanefold, run.threadId);
    // once more: the answers of both
    asked = [];
    const third = await lanefold.runs.retry(again);
    expect(await ended(third)).toMatchObject({ status: 'completed' });
    expect(asked).toEqual(['three']);
    expect((await lanefold.runs.get(third)).retryOf).toBe(again.id);
    const children = async ({ id }: RunRef) => {
      const { rows } = await lanefold.database.pool.query<{ child: string; cost: number | null }>(
        'select child_run_id as child, child_cost as cost from lanefold.run_wait where run_id = $1 order by call_index',
        [id],
      );
      return rows;
    };
    const [first] = await children(run);
    const [one, two] = await children(third);
    expect([one, two]).toEqual([
      { child: first!.child, cost: 0 },
      { child: (await children(again))[1]!.child, cost: 0 },
    ]);
  });

  test('another model or task is another question, and fresh children are asked again', async () => {
    const run = await start([ask('brief', 'one')]);
    await ended(run);
    const other = await lanefold.runs.retry(run, { freshChildren: true });
    await ended(other);
    expect(asked).toEqual(['one', 'one']);
    // its own retry takes the newer answer
    await ended(await lanefold.runs.retry(other));
    expect(asked).toEqual(['one', 'one']);
    const model = lanefold.model([{ calls: [ask('ask_helper', 'one')] }, { text: 'done' }] as never);
    await ended(await lanefold.runs.retry(run, { model: model.id }));
    expect(asked).toEqual(['one', 'one', 'one']);
  });

  test('a rerun on a fork takes them too, until their thread is erased', async () => {
    const run = await start([ask('ask_helper', 'one')]);
    await ended(run);
    const { waits } = { waits: (await lanefold.runs.tree(run)).runs };
    const fork = await lanefold.runs.rerun(run);
    expect(await ended(fork)).toMatchObject({ status: 'completed' });
    expect(fork.threadId).not.toBe(run.threadId);
    expect(await results(fork)).toEqual([['ok', 'answer to one']]);
    expect(asked).toEqual(['one']);
    await expectSound(lanefold, fork.threadId);
    await lanefold.threads.erase(waits[1]!.threadId);
    const last = await lanefold.runs.rerun(run);
    expect(await ended(last)).toMatchObject({ status: 'completed' });
    expect(asked).toEqual(['one', 'one']);
  });

  test('a spawned run is found again, and collected', async () => {
    let handle: object | undefined;
    asked = [];
    answer = (task) => ({ text: `answer to ${task}` });
    const model = lanefold.model(({ prompt }) => {
      const results = prompt
        .slice(prompt.findLastIndex(({ role }) => role === 'user'))
        .filter(({ role }) => role === 'tool');
      if (results.length === 0) return { calls: [ask('spawn', 'later')] } as never;
      if (results.length === 2) return { text: 'done' };
      const [result] = results[0]!.content as { output: { value: string } }[];
      handle = JSON.parse(String(result!.output.value)) as object;
      return { calls: [{ id: 'collect', name: 'agent_result', args: handle }] } as never;
    });
    const run = await lanefold.runs.enqueue({ agent: 'lead', model: model.id, input: 'go' });
    await ended(run);
    const first = handle;
    const again = await lanefold.runs.retry(run);
    expect(await ended(again)).toMatchObject({ status: 'completed' });
    expect(handle).toEqual(first);
    expect(asked).toEqual(['later']);
    expect((await results(again))[1]).toEqual(['ok', 'answer to later']);
  });

  test('a long answer is shortened in the log of the caller, and refused beyond the limit of its tool', async () => {
    const run = await start([ask('ask_helper', 'long'), ask('ask_helper', 'endless')]);
    const long = 'long '.repeat(2_000);
    answer = (task) => ({ text: task === 'long' ? long : 'endless '.repeat(4_000) });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    const [shortened, refused] = await results(run);
    expect(shortened![0]).toBe('ok');
    expect(String(shortened![1]).length).toBeLessThan(4_096);
    const id = /read_content\(\{"id":"(c_[0-9a-f]+)"/.exec(String(shortened![1]))![1]!;
    const { rows } = await lanefold.database.pool.query(
      'select text from lanefold.content where thread_id = $1 and id = $2',
      [run.threadId, id],
    );
    expect(rows).toEqual([{ text: long }]);
    expect(refused).toEqual(['error', expect.stringContaining('result_too_large')]);
    await expectSound(lanefold, run.threadId);
  });
});
