// @module-tag slow
import { createLanefold, defineAgent, defineTool, type AgentDefinition, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

const script = (...turns: unknown[]) => `scripted:${JSON.stringify(turns)}`;
const pay = defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' });
const support = (version: string, more: Partial<AgentDefinition> = {}): AgentDefinition =>
  defineAgent({
    name: 'support',
    version,
    model: script(`I am ${version}.`),
    instructions: `You are ${version}.`,
    tools: [pay],
    ...more,
  });
const plain = defineAgent({ name: 'plain', model: script('hello') });
const narrow = (version: string, maxInputTokens: number) =>
  defineAgent({ name: 'narrow', version, model: script('hello'), contextPolicy: { maxInputTokens } });
const all = [support('a'), support('b'), plain, narrow('a', 1_000), narrow('b', 500)];
const paying = script({ tool: 'pay', args: {} }, 'done');

describe('versions of an agent in one fleet', () => {
  let main: Runtime;
  const others: Lanefold[] = [];
  beforeAll(async () => {
    main = await startRuntime(all);
  });
  afterAll(async () => {
    for (const other of others) await other.close();
    await main?.close();
  });
  const ask = async (threadId: string, more: object = {}) =>
    (await main.run({ agent: 'support', input: 'Who are you?', threadId, createThread: true, ...more })).run;

  test('the first serves where nothing is said, and a request names another by label or id', async () => {
    expect(await ask('first')).toMatchObject({ status: 'completed', result: 'I am a.' });
    const b = await ask('second', { version: 'b' });
    expect(b.result).toBe('I am b.');
    expect((await ask('third', { version: b.agentVersion })).result).toBe('I am b.');
    const seen = await main.agents.versions('support');
    expect(seen.find(({ id }) => id === b.agentVersion)).toMatchObject({
      label: 'b',
      definition: { instructions: 'You are b.' },
    });
    const { rows } = await main.database.pool.query(
      "select content #>> '{}' as prompt from lanefold.lane_context where thread_id = 'second' and role = 'system'",
    );
    expect(rows).toEqual([{ prompt: 'You are b.' }]);
    await expect(main.runs.enqueue({ agent: 'support', input: 'x', version: 'zzz' })).rejects.toMatchObject({
      code: 'unknown_version',
      details: { known: ['a', 'b'] },
    });
  });

  test('the next call is that of the version of the latest run', async () => {
    const threadId = 'previewed';
    const limits = [];
    for (const version of [undefined, 'b']) {
      await main.run({ agent: 'narrow', input: 'x', threadId, createThread: true, ...(version && { version }) });
      const { policy } = await main.contexts.project(threadId, { explain: true });
      limits.push(policy['max_input_tokens']);
      const named = await main.contexts.project(threadId, { agent: 'narrow' });
      expect(named.policy).toEqual(policy);
    }
    expect(limits).toEqual([1_000, 500]);
  });

  test('a run is asked again under another version on a fork', async () => {
    const run = await ask('to-rerun');
    const again = await main.runs.rerun({ threadId: 'to-rerun', id: run.id }, { version: 'b' });
    expect(await main.runs.wait(again)).toMatchObject({ status: 'completed', result: 'I am b.' });
    await expectSound(main, again.threadId);
  });

  test('a rollout splits threads by its shares, and a thread keeps its version', async () => {
    await main.agents.setRollout('support', { shares: { a: 50, b: 50 } });
    const threads = Array.from({ length: 100 }, (_, i) => `split-${i}`);
    const first = new Map<string, unknown>();
    await Promise.all(threads.map(async (id) => first.set(id, (await ask(id)).result)));
    const ofB = threads.filter((id) => first.get(id) === 'I am b.').length;
    // 50 of 100 expected; the hash of these names decides, so the number never changes
    expect(ofB).toBeGreaterThan(35);
    expect(ofB).toBeLessThan(65);

    await main.agents.setRollout('support', { shares: { a: 0, b: 1 } });
    for (const id of threads.slice(0, 10)) expect((await ask(id)).result).toBe(first.get(id));
    expect((await ask('late')).result).toBe('I am b.');

    const ofA = threads.find((id) => first.get(id) === 'I am a.')!;
    await expect(main.agents.moveThread(ofA, 'support', 'zzz')).rejects.toMatchObject({ code: 'unknown_version' });
    await main.agents.moveThread(ofA, 'support', 'b');
    expect((await ask(ofA)).result).toBe('I am b.');
    await main.agents.removeRollout('support');
    expect((await ask('late')).result).toBe('I am a.');
    const actions = (await main.audit.list({ limit: 1_000 })).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['rollouts.set', 'rollouts.move_thread', 'rollouts.remove']));
    await expect(main.agents.removeRollout('support')).rejects.toMatchObject({ code: 'rollout_not_found' });
    await expect(main.agents.moveThread('nowhere', 'support', 'b')).rejects.toMatchObject({ code: 'thread_not_found' });
    await expect(main.agents.moveThread(ofA, 'support', 'b')).rejects.toMatchObject({ code: 'rollout_not_found' });
    await expect(main.agents.moveThread(ofA, 'support', 'no label')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('a thread that is moved to a version of one agent keeps those of the others', async () => {
    for (const agent of ['support', 'narrow']) await main.agents.setRollout(agent, { shares: { a: 1 } });
    await ask('of-two');
    for (const agent of ['support', 'narrow']) await main.agents.moveThread('of-two', agent, 'b');
    expect((await ask('of-two')).result).toBe('I am b.');
    await main.agents.moveThread('of-two', 'narrow', null);
    expect((await ask('of-two')).result).toBe('I am b.');
    for (const agent of ['support', 'narrow']) await main.agents.removeRollout(agent);
  });

  test('all threads of a customer get one version, and a repeated request is the same one under other shares', async () => {
    await main.agents.setRollout('support', { shares: { a: 1, b: 1 }, key: 'customer' });
    for (const customer of ['acme', 'bolt', 'coil']) {
      const results = await Promise.all(
        [1, 2, 3].map(async (i) => (await ask(`${customer}-${i}`, { limitKeys: { customer } })).result),
      );
      expect(new Set(results).size).toBe(1);
    }
    const request = { agent: 'support', input: 'once', requestId: 'only-once' };
    const once = await main.runs.enqueue(request);
    await main.agents.setRollout('support', { shares: { a: 1 } });
    expect(await main.runs.enqueue(request)).toMatchObject({ id: once.id, duplicate: true });
    await main.agents.setRollout('support', { shares: { b: 1 } });
    expect(await main.runs.enqueue(request)).toMatchObject({ id: once.id, duplicate: true });
    await main.agents.removeRollout('support');
  });

  test('a version that no worker has had is named, and the first serves instead', async () => {
    const rollout = await main.agents.setRollout('support', { shares: { c: 1 } });
    expect(rollout).toMatchObject({ unknown: ['c'], shares: { c: 1 }, key: null, updatedBy: 'operator' });
    expect(await main.agents.rollouts()).toEqual([rollout]);
    expect((await ask('early')).result).toBe('I am a.');
    await main.agents.setRollout('support', { shares: { b: 1 } });
    // its conversation has begun with the first version
    expect((await ask('early')).result).toBe('I am a.');
    await main.agents.removeRollout('support');
  });

  test('a run whose version no worker has waits, says so, and continues where a worker has it', async () => {
    const newer = await createLanefold({ ...main.options, agents: [...all, support('c')] });
    others.push(newer);
    const run = await newer.runs.enqueue({
      agent: 'support',
      input: 'Who?',
      threadId: 'waits',
      createThread: true,
      version: 'c',
    });
    await until('the worker has moved it', async () => (await main.runs.get(run)).unknownVersion === 'c');
    expect(await main.runs.get(run)).toMatchObject({
      status: 'queued',
      unknownStrategy: null,
      unattended: { reason: 'unknown_version', message: expect.stringContaining('"c"') as string },
    });
    await newer.startWorker();
    expect(await main.runs.wait(run)).toMatchObject({ result: 'I am c.', unknownVersion: null });
  });

  test('a pinned run that waited continues under its own version; another one under the newest', async () => {
    const made = async (resume: 'latest' | 'pinned', words: string) => {
      const agents = [defineAgent({ name: resume, resume, model: paying, instructions: words, tools: [pay] })];
      const lanefold = await createLanefold({ ...main.options, agents });
      others.push(lanefold);
      return lanefold;
    };
    for (const resume of ['latest', 'pinned'] as const) {
      const old = await made(resume, 'Old.');
      const worker = await old.startWorker();
      const run = await old.runs.enqueue({ agent: resume, input: 'pay' });
      await until('it waits for approval', async () => (await old.runs.get(run)).status === 'suspended');
      const before = (await old.runs.get(run)).agentVersion;
      await worker.stop();
      const next = await made(resume, 'New.');
      await next.startWorker();
      const { toolCalls } = await next.runs.get(run);
      await next.runs.approve(run, toolCalls[0]!.call);
      if (resume === 'latest') {
        expect((await next.runs.wait(run)).agentVersion).not.toBe(before);
        expect((await main.runs.events(run)).map(({ kind }) => kind)).toContain('version_changed');
        continue;
      }
      await until('the new worker has moved it', async () => (await next.runs.get(run)).unknownVersion === before);
      await old.startWorker();
      expect(await old.runs.wait(run)).toMatchObject({
        status: 'completed',
        agentVersion: before,
      });
      expect((await main.runs.events(run)).map(({ kind }) => kind)).not.toContain('version_changed');
      await expectSound(main, run.threadId);
    }
  });

  test('what a request may override is what the version that serves allows', async () => {
    const open = support('a', { overridable: { library: ['model'] } });
    const closed = support('b', { overridable: { library: [] } });
    const lanefold = await createLanefold({ ...main.options, agents: [open, closed] });
    others.push(lanefold);
    await lanefold.agents.setRollout('support', { shares: { b: 1 } });
    const request = { agent: 'support', input: 'x', model: script('x') };
    await expect(lanefold.runs.enqueue(request)).rejects.toMatchObject({ code: 'override_not_allowed' });
    const [batched] = await lanefold.runs.enqueueMany([request]);
    expect(batched).toMatchObject({ status: 'rejected', reason: { code: 'override_not_allowed' } });
    await lanefold.agents.removeRollout('support');
    await lanefold.runs.enqueue(request);
    await expect(lanefold.runs.enqueue({ ...request, version: 'b' })).rejects.toMatchObject({
      code: 'override_not_allowed',
    });
  });

  test('a second version without a label is named by its id', async () => {
    const other = defineAgent({ ...plain, name: 'either', model: script('other') });
    const labelled = defineAgent({ name: 'either', version: 'a', model: script('labelled') });
    const lanefold = await createLanefold({ ...main.options, agents: [labelled, other] });
    others.push(lanefold);
    await lanefold.startWorker();
    expect(await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'either', input: 'x' }))).toMatchObject({
      result: 'labelled',
    });
    const versions = await lanefold.agents.versions('either');
    const { id } = versions.find(({ label }) => label === null)!;
    const run = await lanefold.runs.enqueue({ agent: 'either', input: 'x', version: id });
    expect(await lanefold.runs.wait(run)).toMatchObject({ result: 'other', agentVersion: id });
  });

  test('two agents of a name need different labels', async () => {
    await expect(createLanefold({ ...main.options, agents: [support('a'), support('a')] })).rejects.toMatchObject({
      code: 'invalid_agent',
    });
    expect(() => support('no label')).toThrow(expect.objectContaining({ code: 'invalid_agent' }));
    expect(() => defineAgent({ ...plain, resume: 'never' as never })).toThrow(
      expect.objectContaining({ code: 'invalid_agent' }),
    );
    expect(main.agents.list().map(({ name, labels }) => [name, labels])).toEqual([
      ['support', ['a', 'b']],
      ['plain', []],
      ['narrow', ['a', 'b']],
    ]);
  });
});
