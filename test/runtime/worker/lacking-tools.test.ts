// @module-tag slow
import {
  createLanefold,
  defineAgent,
  defineTool,
  type AgentDefinition,
  type EnqueueOptions,
  type Lanefold,
  type LanefoldOptions,
  type RunHandle,
  type UnknownAgent,
  type WorkerOptions,
} from 'lanefold';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { eventsOf, expectSound } from '../../support/log.ts';
import { until } from '../../support/until.ts';

const tool = (name: string, needsApproval = false) =>
  defineTool({ name, input: z.object({}), needsApproval, execute: () => `${name}: done` });
const clerk = (...tools: string[]): AgentDefinition =>
  defineAgent({
    name: 'clerk',
    model: 'scripted:demo',
    tools: tools.map((name) => tool(name, name === 'sign')),
    overridable: ['model', 'tools', 'allowedTools'],
  });
const script = (...turns: unknown[]) => `scripted:${JSON.stringify(turns)}`;
const calls = (...names: string[]) => script(...names.map((name) => ({ tool: name, args: {} })), 'ready');

/** What a run gets from these workers, it gets from another worker at once. */
const noSweeps: WorkerOptions = { leaseMs: 120_000, sweepMs: 600_000 };
const sweeps: WorkerOptions = { leaseMs: 120_000, sweepMs: 100 };

describe('a worker that has the agent of a run but not its tools', () => {
  let api: TestLanefold;
  const others: Lanefold[] = [];
  beforeAll(async () => {
    api = await startLanefold({ agents: [clerk('pay', 'sign', 'mail')], tools: [tool('search')] });
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });
  afterAll(() => api?.close());

  const startWorker = async (options: LanefoldOptions, worker = noSweeps) => {
    const other = await createLanefold({ ...api.options, tools: [], ...options });
    others.push(other);
    return other.startWorker(worker);
  };
  const go = (given: Partial<EnqueueOptions> = {}) =>
    api.runs.enqueue({ agent: 'clerk', input: 'go', model: calls('pay'), ...given } as EnqueueOptions);
  const outcomes = async (run: RunHandle) => {
    const { rows } = await api.database.pool.query<{ name: string; status: string }>(
      'select name, status from lanefold.run_tool_call where thread_id = $1 and run_id = $2 order by round, call_index',
      [run.threadId, run.id],
    );
    return rows.map(({ name, status }) => `${name} ${status}`);
  };
  const kinds = async (run: RunHandle) => (await eventsOf(api, run.threadId, run.id)).map(({ kind }) => kind);
  const moved = (run: RunHandle, ...tools: string[]) =>
    until('the run waits for its tools', async () => {
      const { unknownTools } = await api.runs.get(run);
      return unknownTools?.join() === tools.join();
    });
  const anHourPasses = async () => {
    for (const what of ['_run set agent_unknown_since', '_worker set stopped_at']) {
      const column = what.split(' ').at(-1)!;
      await api.database.pool.query(`update lanefold.${what} = now() - interval '1 hour' where ${column} is not null`);
    }
  };

  test('leaves the calls of the tools to workers that have them', async () => {
    await startWorker({ agents: [clerk()] });
    await startWorker({ agents: [clerk('pay')] });
    const runs = await Promise.all(Array.from({ length: 16 }, () => go()));
    for (const run of runs) {
      expect(await api.runs.wait(run)).toMatchObject({ status: 'completed', result: 'ready', unknownTools: null });
      expect(await outcomes(run)).toEqual(['pay ok']);
      const seen = await kinds(run);
      expect(seen.filter((kind) => kind === 'tool_started')).toHaveLength(1);
      expect(seen).not.toContain('llm_lost');
      await expectSound(api, run.threadId);
    }
  });

  test.for<[string, Partial<EnqueueOptions>, string]>([
    ['tools of the agent', { tools: ['pay'] }, 'pay'],
    ['tools of no agent', { tools: ['search'], model: calls('search') }, 'search'],
    ['the tools it may use', { allowedTools: ['pay'] }, 'pay'],
  ])('leaves a run whose request names %s to others, before it writes anything', async ([, given, name]) => {
    await startWorker({ agents: [clerk()] });
    const run = await go(given);
    await moved(run, name);
    expect(await kinds(run)).toEqual([]);
    expect(await api.runs.get(run)).toMatchObject({ status: 'queued', agentVersion: null });
    await startWorker({ agents: [clerk('pay')], tools: [tool('search')] });
    expect(await api.runs.wait(run)).toMatchObject({ status: 'completed', result: 'ready' });
    expect(await outcomes(run)).toEqual([`${name} ok`]);
    expect(await kinds(run)).not.toContain('version_changed');
    await expectSound(api, run.threadId);
  });

  test('leaves a run whose thread has a tool of no agent to others', async () => {
    const { id: threadId } = await api.threads.create();
    await api.threads.configure(threadId, { registerTools: ['search'] });
    await startWorker({ agents: [clerk()] });
    const run = await go({ threadId, model: calls('search') });
    await moved(run, 'search');
    await startWorker({ agents: [clerk()], tools: [tool('search')] });
    expect(await api.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await outcomes(run)).toEqual(['search ok']);
  });

  test('executes a run whose thread has a tool of another agent, without that tool', async () => {
    const { id: threadId } = await api.threads.create();
    await api.threads.configure(threadId, { registerTools: ['mail'] });
    const other = defineAgent({ name: 'post', model: 'scripted:demo', tools: [tool('mail')] });
    await startWorker({ agents: [clerk('pay'), other] });
    const run = await go({ threadId });
    expect(await api.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await outcomes(run)).toEqual(['pay ok']);
  });

  test('tells the model of a tool that no worker has for the agent', async () => {
    await startWorker({ agents: [clerk('pay')], tools: [tool('search')] });
    const run = await go({ model: calls('search', 'fly', 'pay') });
    expect(await api.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await outcomes(run)).toEqual(['search error', 'fly error', 'pay ok']);
  });

  test('tells the model of a tool that the request keeps from the run', async () => {
    await startWorker({ agents: [clerk('mail')] });
    await startWorker({ agents: [clerk('pay', 'mail')] });
    const runs = await Promise.all(Array.from({ length: 8 }, () => go({ allowedTools: ['mail'] })));
    for (const run of runs) {
      expect(await api.runs.wait(run)).toMatchObject({ status: 'completed' });
      expect(await outcomes(run)).toEqual(['pay error']);
    }
  });

  test('does not take over a call that it cannot make; the run waits, says so, and continues with a worker that can', async () => {
    const first = await startWorker({ agents: [clerk('sign')] });
    const run = await go({ model: calls('sign') });
    const [call] = await until('it waits for its approval', async () => {
      const { approvals } = await api.runs.get(run);
      return approvals.length > 0 && approvals;
    });
    await first.stop();
    const seen: UnknownAgent[] = [];
    await startWorker({ agents: [clerk('pay')] }, { ...sweeps, onUnknownAgent: (unknown) => seen.push(unknown) });
    await api.runs.approve(run, call!.call);
    await moved(run, 'sign');
    await anHourPasses();
    await until('the worker says so', () => seen.length > 0);
    expect(seen[0]).toMatchObject({ agent: 'clerk', version: null, strategy: null, tools: ['sign'], runs: 1 });
    expect(await api.runs.get(run)).toMatchObject({
      unattended: { reason: 'unknown_tool', message: expect.stringContaining('has the tool "sign"') as string },
    });
    await startWorker({ agents: [clerk('sign')] });
    expect(await api.runs.wait(run)).toMatchObject({ status: 'completed', result: 'ready' });
    expect(await outcomes(run)).toEqual(['sign ok']);
    await expectSound(api, run.threadId);
  });

  test('ends a run whose tools no worker had for as long as it was given', async () => {
    await startWorker({ agents: [clerk()] }, { ...sweeps, unknownAgentMs: 3_540_000 });
    const run = await go({ tools: ['pay'] });
    await moved(run, 'pay');
    await anHourPasses();
    expect(await api.runs.wait(run)).toMatchObject({
      status: 'failed',
      error: { type: 'unknown_tool', message: expect.stringContaining('pay') as string },
    });
    await expectSound(api, run.threadId);
  });

  test('two that each lack a tool of one round do not send it to and fro', async () => {
    await startWorker({ agents: [clerk('pay')] });
    await startWorker({ agents: [clerk('mail')] });
    const both = {
      tools: [
        { tool: 'pay', args: {} },
        { tool: 'mail', args: {} },
      ],
    };
    const run = await go({ model: script(both, 'ready') });
    await moved(run, 'mail', 'pay');
    await startWorker({ agents: [clerk('mail', 'pay')] });
    expect(await api.runs.wait(run)).toMatchObject({ status: 'completed', result: 'ready' });
    expect(await outcomes(run)).toEqual(['pay ok', 'mail ok']);
    await expectSound(api, run.threadId);
  });
});
