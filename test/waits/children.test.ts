// @module-tag slow
import {
  agentResultTool,
  agentTool,
  callAgent,
  defineAgent,
  defineTool,
  spawnAgent,
  type RunHandle,
  type RunRef,
} from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import type { FakeScript } from '../support/fake-model.ts';

const task = z.object({ task: z.string() });
const helper = defineAgent({ name: 'helper', model: 'fake:helper', instructions: 'Help.' });
const gate = defineAgent({
  name: 'gate',
  model: 'fake:gate',
  tools: [defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' })],
});
const nested = defineAgent({ name: 'nested', model: 'fake:nested', tools: [agentTool('nested'), agentTool('helper')] });
const lead = defineAgent({
  name: 'lead',
  model: unset,
  toolConcurrency: 8,
  maxChildren: 6,
  tools: [
    agentTool(helper, { description: 'Helps.' }),
    agentTool(gate),
    agentTool('nested'),
    agentTool(helper, { name: 'start_helper', wait: false }),
    agentTool(helper, { name: 'with_context', context: 'fork' }),
    agentTool(helper, { name: 'hasty', timeoutMs: 1 }),
    agentResultTool(),
    defineTool({ name: 'stranger', input: task, execute: ({ task: input }) => callAgent('nobody', { input }) }),
    defineTool({ name: 'spawn', input: task, execute: ({ task: input }) => spawnAgent(helper, { input }) }),
    defineTool({
      name: 'unstartable',
      input: task,
      execute: ({ task: input }) => callAgent(helper, { input, model: 'absent:one' }),
    }),
    defineTool({
      name: 'spawn_unstartable',
      input: task,
      execute: ({ task: input }) => spawnAgent(helper, { input, model: 'absent:one' }),
    }),
    defineTool({ name: 'look', input: z.object({}), execute: () => 'looked' }),
  ],
});

describe('runs started by tool calls', () => {
  let lanefold: Runtime;
  /** The scripts of the models `fake:helper`, `fake:gate` and `fake:nested`. */
  const scripts: Record<string, FakeScript> = {};
  let hold: Promise<unknown> | undefined;
  beforeAll(async () => {
    const { fakeModel } = await import('../support/fake-model.ts');
    const named = Object.fromEntries(
      ['helper', 'gate', 'nested'].map((name) => [
        `fake:${name}`,
        fakeModel(async (call, n) => {
          const script = scripts[name]!;
          return typeof script === 'function' ? script(call, n) : script[0]!;
        }),
      ]),
    );
    lanefold = await startRuntime([lead, helper, gate, nested], { worker: { sweepMs: 50 }, models: named as never });
  });
  afterAll(() => lanefold?.close());

  const call = (name: string, args: object, id = name) => ({ id, name, args });
  const ask = (name: string, text: string, id = `${name}-${text}`) => call(name, { task: text }, id);
  const start = (...turns: object[]) => {
    const model = lanefold.model([...turns, { text: 'done' }] as never);
    return lanefold.runs.enqueue({ agent: 'lead', model: model.id, input: 'go' });
  };
  const ended = (run: RunRef) => lanefold.runs.wait(run);
  const results = async (run: RunRef) =>
    (await ledgerOf(lanefold, run.threadId, run.id)).map(({ status, result }) => [status, result]);
  const suspended = (run: RunRef, waits = 1) =>
    until('the run waits', async () => {
      const found = await lanefold.runs.get(run);
      return found.status === 'suspended' && found.waits.length === waits ? found : undefined;
    });
  /** Answers with what it was asked. */
  const echo: FakeScript = (given) => {
    const asked = given.prompt.filter(({ role }) => role === 'user').at(-1)!.content as { text: string }[];
    return { text: `answer to ${asked[0]!.text}` };
  };
  const held = () => {
    let release!: () => void;
    hold = new Promise<void>((resolve) => (release = resolve));
    scripts['helper'] = async (given, n) => {
      await hold;
      return (echo as (...args: unknown[]) => never)(given, n);
    };
    return release;
  };

  test('several agents work at once, and their answers are the results of the calls', async () => {
    scripts['helper'] = echo;
    const run = await start({ calls: [ask('ask_helper', 'one'), call('look', {}), ask('ask_helper', 'two')] });
    expect(await ended(run)).toMatchObject({ status: 'completed', result: 'done' });
    expect(await results(run)).toEqual([
      ['ok', 'answer to one'],
      ['ok', 'looked'],
      ['ok', 'answer to two'],
    ]);
    const tree = await lanefold.runs.tree(run);
    expect(tree).toMatchObject({ root: { threadId: run.threadId, id: run.id }, usage: { input_tokens: 40 } });
    expect(tree.runs.map(({ agent, depth, status }) => [agent, depth, status])).toEqual([
      ['lead', 0, 'completed'],
      ['helper', 1, 'completed'],
      ['helper', 1, 'completed'],
    ]);
    const [, child] = tree.runs;
    expect(await lanefold.runs.tree(child!)).toEqual(tree);
    expect((await lanefold.runs.get(child!)).parent).toEqual({ threadId: run.threadId, id: run.id });
    const { rows } = await lanefold.database.pool.query(
      'select agent, depth, parent_run_id from lanefold.run_tree where root_run_id = $1 order by depth',
      [run.id],
    );
    expect(rows).toMatchObject([{ agent: 'lead', depth: 0 }, { parent_run_id: run.id }, { parent_run_id: run.id }]);
    const entry = await lanefold.database.pool.query(
      `select refs -> 'child_run' as child from lanefold.thread_entry where run_id = $1 and role = 'tool' and refs ? 'child_run'`,
      [run.id],
    );
    expect(entry.rows).toHaveLength(2);
    await expectSound(lanefold, run.threadId);
    await expectSound(lanefold, child!.threadId);
  });

  test('a parent waits without a worker, and its wait names the run', async () => {
    const release = held();
    const run = await start({ calls: [ask('ask_helper', 'slow')] });
    const waiting = await suspended(run);
    const [wait] = waiting.waits;
    expect(wait).toMatchObject({ kind: 'run', name: 'ask_helper', run: { threadId: expect.any(String) } });
    expect(waiting.suspendedUntil).toBeNull();
    release();
    expect(await ended(wait!.run!)).toMatchObject({ result: 'answer to slow', agent: 'helper' });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
  });

  test('a child can be steered and cancelled; a failed one is an error of the call', async () => {
    const release = held();
    const run = await start({ calls: [ask('ask_helper', 'a'), ask('ask_helper', 'b')] });
    const { waits } = await suspended(run, 2);
    await lanefold.runs.cancel(waits[0]!.run!);
    await lanefold.runs.steer(waits[1]!.run!.threadId, 'and hurry');
    release();
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    const [cancelled, steered] = await results(run);
    expect(cancelled).toEqual(['error', expect.stringContaining('agent_cancelled')]);
    expect(steered).toEqual(['ok', expect.stringContaining('answer to')]);
    scripts['helper'] = () => new Error('broken model');
    const failing = await start({ calls: [ask('ask_helper', 'x')] });
    await ended(failing);
    expect(await results(failing)).toEqual([['error', expect.stringContaining('agent_failed')]]);
  });

  test('approvals of a child are listed with the root, and decided as ever', async () => {
    scripts['gate'] = (given) =>
      given.prompt.some(({ role }) => role === 'tool') ? { text: 'bought' } : { calls: [{ name: 'pay', args: {} }] };
    const run = await start({ calls: [ask('ask_gate', 'buy')] });
    const approval = await until('the approval', async () =>
      (await lanefold.approvals.list()).data.find(({ root }) => root?.id === run.id),
    );
    expect(approval).toMatchObject({ agent: 'gate', name: 'pay', root: { threadId: run.threadId, id: run.id } });
    const tree = await lanefold.runs.tree(run);
    expect(tree.runs.map(({ waits }) => waits.map(({ kind }) => kind))).toEqual([['run'], ['approval']]);
    await lanefold.runs.approve({ threadId: approval.threadId, id: approval.runId }, approval.call);
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([['ok', 'bought']]);
  });

  test('the end of a parent that did not complete cancels its runs, and theirs', async () => {
    const release = held();
    scripts['nested'] = () => ({ calls: [{ name: 'ask_helper', args: { task: 'deep' } }] });
    const run = await start({ calls: [ask('ask_nested', 'down')] });
    await suspended(run);
    const tree = await until('three deep', async () => {
      const found = await lanefold.runs.tree(run);
      return found.runs.length === 3 && found.runs[1]!.status === 'suspended' ? found : undefined;
    });
    await lanefold.runs.cancel(run);
    for (const one of tree.runs) expect(await ended(one)).toMatchObject({ status: 'cancelled' });
    release();
    for (const one of tree.runs) await expectSound(lanefold, one.threadId);
  });

  test('a spawned run is not waited for; a later call gets its answer', async () => {
    const release = held();
    let handle: { thread_id: string; run_id: string } | undefined;
    const model = lanefold.model((given, n) => {
      if (n === 0) return { calls: [ask('start_helper', 'later'), ask('spawn', 'too')] };
      if (n === 1) {
        const tool = given.prompt.find(({ role }) => role === 'tool')!.content as { output: { value: string } }[];
        handle = JSON.parse(String(tool[0]!.output.value)) as typeof handle;
        release();
        return { calls: [call('agent_result', handle!)] };
      }
      return { text: 'done' };
    });
    const run = await lanefold.runs.enqueue({ agent: 'lead', model: model.id, input: 'go' });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([
      ['ok', expect.stringContaining('"agent":"helper"')],
      ['ok', expect.stringContaining('"agent":"helper"')],
      ['ok', 'answer to later'],
    ]);
    // asked again after its end
    const again = lanefold.model([{ calls: [call('agent_result', handle!)] }, { text: 'done' }]);
    const next = await lanefold.runs.enqueue({
      agent: 'lead',
      model: again.id,
      input: 'continue',
      threadId: run.threadId,
    });
    expect(await ended(next)).toMatchObject({ status: 'completed' });
    expect(await results(next)).toEqual([['ok', 'answer to later']]);
  });

  test('a run that could not start is an error of its call, and keeps no share of the budget', async () => {
    const run = await start({ calls: [ask('unstartable', 'x'), ask('spawn_unstartable', 'y')] });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([
      ['error', expect.stringContaining('absent')],
      ['ok', expect.stringContaining('"agent":"helper"')],
    ]);
    const left = await until('both have ended for their parent', async () => {
      const { rows } = await lanefold.database.pool.query<{ child_ended_at: Date | null }>(
        'select kind, child_ended_at, child_cost from lanefold.run_wait where run_id = $1 order by call_index',
        [run.id],
      );
      return rows.every(({ child_ended_at: at }) => at) ? rows : undefined;
    });
    expect(left).toMatchObject([
      { kind: 'run', child_cost: 0 },
      { kind: 'spawn', child_cost: 0 },
    ]);
  });

  test('a fork of the lane is the context of the child', async () => {
    let seen: string[] = [];
    scripts['helper'] = (given, n) => {
      seen = given.prompt.map(
        ({ role, content }) =>
          `${role}: ${typeof content === 'string' ? content : (content[0] as { text: string }).text}`,
      );
      return (echo as (...args: unknown[]) => never)(given, n);
    };
    const run = await start({ calls: [ask('with_context', 'sum up')] });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(seen).toEqual(['system: Help.', 'user: go', 'user: sum up']);
  });

  test('depth and number are bounded, unknown agents and runs are errors of the call', async () => {
    scripts['helper'] = echo;
    scripts['nested'] = (given) =>
      given.prompt.some(({ role }) => role === 'tool')
        ? { text: JSON.stringify(given.prompt.at(-1)!.content) }
        : { calls: [{ name: 'ask_nested', args: { task: 'deeper' } }] };
    const deep = await start({ calls: [ask('ask_nested', 'down')] });
    expect(await ended(deep)).toMatchObject({ status: 'completed' });
    expect((await lanefold.runs.tree(deep)).runs.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await results(deep))[0]![1]).toContain('too_deep');

    const many = await start({ calls: Array.from({ length: 8 }, (_, i) => ask('ask_helper', `${i}`)) });
    expect(await ended(many)).toMatchObject({ status: 'completed' });
    const outcomes = await results(many);
    expect(outcomes.filter(([status]) => status === 'ok')).toHaveLength(6);
    expect(outcomes.filter(([, result]) => String(result).includes('too_many_agents'))).toHaveLength(2);

    const wrong = await start({
      calls: [ask('stranger', 'x'), call('agent_result', { thread_id: 'thread_x', run_id: 'run_x' })],
    });
    expect(await ended(wrong)).toMatchObject({ status: 'completed' });
    expect(await results(wrong)).toEqual([
      ['error', expect.stringContaining('unknown_agent')],
      ['error', expect.stringContaining('unknown_run')],
    ]);
  });

  test('time is up: the call fails, and its run is cancelled', async () => {
    const release = held();
    const run: RunHandle = await start({ calls: [ask('hasty', 'slow')] });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([['error', expect.stringContaining('timeout')]]);
    const [, child] = (await lanefold.runs.tree(run)).runs;
    expect(await ended(child!)).toMatchObject({ status: 'cancelled' });
    release();
  });
});

test('an agent whose tool names an agent that is not there is refused at the start', async () => {
  const { createLanefold } = await import('lanefold');
  await expect(createLanefold({ agents: [lead] })).rejects.toMatchObject({ code: 'invalid_agent' });
});
