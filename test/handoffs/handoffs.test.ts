// @module-tag slow
import { defineAgent, defineTool, handOff, handoffTool, waitFor, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { fakeModel, type FakeScript } from '../support/fake-model.ts';
import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'looked' });
const reception = defineAgent({
  name: 'reception',
  model: 'fake:reception',
  instructions: 'You receive.',
  maxIterations: 2,
  tools: [
    handoffTool('billing', { description: 'For invoices.' }),
    handoffTool('billing', { name: 'summarised', context: 'summary' }),
    handoffTool('thinker', { name: 'to_thinker' }),
    handoffTool('billing', { name: 'filtered', contextPolicy: { includeKinds: ['message'] }, ask: 'Only bill.' }),
    look,
    defineTool({ name: 'nowhere', input: z.object({}), execute: () => handOff('nobody') }),
    defineTool({ name: 'self', input: z.object({}), execute: () => handOff('reception') }),
    defineTool({ name: 'await_event', input: z.object({}), execute: () => waitFor('ready') }),
  ],
});
const billing = defineAgent({
  name: 'billing',
  model: 'fake:billing',
  instructions: 'You bill.',
  maxIterations: 3,
  maxHandoffs: 3,
  tools: [handoffTool('reception'), look],
});
const draft = defineAgent({
  name: 'draft',
  model: 'fake:reception',
  instructions: 'You draft.',
  maxIterations: 2,
  tools: [look],
  onEnd: handOff('billing', { ask: 'Check the draft.' }),
});
/** Hands on what its answer names, so that a test can have anything. */
const router = defineAgent({
  name: 'router',
  model: 'fake:reception',
  maxHandoffs: 2,
  onEnd: (answer) => (answer.startsWith('to ') ? handOff(answer.slice(3), { ask: 'Continue.' }) : undefined),
});
const echoing = defineAgent({
  name: 'echoing',
  model: 'fake:billing',
  maxHandoffs: 2,
  onEnd: () => handOff('router', { ask: 'Again.' }),
});
const structured = defineAgent({
  name: 'structured',
  model: 'fake:reception',
  output: { schema: z.object({ total: z.number() }), maxRepairs: 1 },
  onEnd: handOff('billing', { ask: 'Book it.' }),
});
const thinker = defineAgent({ name: 'thinker', model: 'fake:billing', strategy: 'cot' });

describe('handing a run to another agent', () => {
  let lanefold: Runtime;
  const scripts: Record<string, FakeScript> = {};
  const prompts: string[][] = [];
  beforeAll(async () => {
    const named = ['reception', 'billing'].map((name) => {
      const model = fakeModel(async (call, n) => {
        prompts.push(call.prompt.map(({ role, content }) => `${role}: ${textOf(content)}`));
        const script = scripts[name]!;
        return typeof script === 'function' ? script(call, n) : script[0]!;
      });
      return [`fake:${name}`, model];
    });
    lanefold = await startRuntime([reception, billing, draft, router, echoing, structured, thinker], {
      worker: { sweepMs: 50 },
      models: Object.fromEntries(named) as never,
    });
  });
  afterAll(() => lanefold?.close());

  const textOf = (content: unknown) =>
    typeof content === 'string' ? content : ((content as { text?: string; type: string }[])[0]?.text ?? 'parts');
  const calling = (...names: string[]) => ({ calls: names.map((name) => ({ id: name, name, args: {} })) });
  /** Each turn once, then its last one. */
  const turns = (...list: object[]): FakeScript => {
    let n = 0;
    return () => list[Math.min(n++, list.length - 1)] as never;
  };
  const run = async (options: object = {}) => {
    prompts.length = 0;
    return lanefold.runs.enqueue({ agent: 'reception', input: 'My invoice is wrong.', ...options });
  };
  const ended = (ref: RunRef) => lanefold.runs.wait(ref);
  const results = async (ref: RunRef) =>
    (await ledgerOf(lanefold, ref.threadId, ref.id)).map(({ status, result }) => [status, result]);

  test('the next agent continues with the conversation, under its prompt, model and tools', async () => {
    scripts['reception'] = turns(calling('look', 'transfer_to_billing'));
    scripts['billing'] = turns({ text: 'It is corrected.', usage: [7, 3] });
    const ref = await run();
    expect(await ended(ref)).toMatchObject({
      status: 'completed',
      result: 'It is corrected.',
      agent: 'billing',
      model: 'fake:billing',
      usage: { input_tokens: 17 },
      otherUsage: { 'fake:reception': { input_tokens: 10, calls: 1 } },
    });
    expect(await results(ref)).toEqual([
      ['ok', 'looked'],
      ['ok', '{"handed_to":"billing"}'],
    ]);
    expect(prompts).toEqual([
      ['system: You receive.', 'user: My invoice is wrong.'],
      ['system: You bill.', 'user: My invoice is wrong.', 'assistant: parts', 'tool: parts'],
    ]);
    const events = await eventsOf(lanefold, ref.threadId, ref.id);
    expect(events.filter(({ kind }) => kind === 'handed_over')).toMatchObject([
      { data: { from: 'reception', to: 'billing' } },
    ]);
    expect(events.filter(({ kind }) => kind === 'llm_started')).toHaveLength(2);
    expect(events.some(({ kind }) => kind === 'llm_lost')).toBe(false);
    const { rows } = await lanefold.database.pool.query(
      "select refs ->> 'agent' as agent from lanefold.thread_entry where thread_id = $1 and kind = 'ai_config_change' order by seq",
      [ref.threadId],
    );
    expect(rows).toEqual([{ agent: 'reception' }, { agent: 'billing' }]);
    await expectSound(lanefold, ref.threadId);
  });

  test('the limits of the next agent count from the handoff', async () => {
    scripts['reception'] = turns(calling('look'), calling('transfer_to_billing'));
    scripts['billing'] = turns(calling('look'));
    const ref = await run();
    expect(await ended(ref)).toMatchObject({ terminationReason: 'max_iterations', iteration: 6, agent: 'billing' });
    expect((await lanefold.runs.get(ref)).maxIterations).toBe(5);
  });

  test('cycles are bounded', async () => {
    scripts['reception'] = turns(calling('transfer_to_billing'));
    scripts['billing'] = (call) =>
      call.prompt.filter(({ role }) => role === 'tool').length > 4
        ? { text: 'I keep it.' }
        : calling('transfer_to_reception');
    const ref = await run();
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'I keep it.' });
    const all = await results(ref);
    expect(all.filter(([status]) => status === 'ok')).toHaveLength(3);
    expect(all.filter(([, result]) => String(result).includes('too_many_handoffs'))).toHaveLength(2);
  });

  test('a summary is what the next agent sees, if asked for', async () => {
    scripts['reception'] = turns(calling('summarised'));
    let calls = 0;
    scripts['billing'] = () => ({ text: (calls += 1) === 1 ? 'A summary.' : 'Done.' });
    const ref = await run();
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'Done.' });
    expect(prompts.at(-1)).toEqual([
      'system: You bill.',
      'user: My invoice is wrong.',
      'user: Summary of earlier messages:\nA summary.',
    ]);
    await expectSound(lanefold, ref.threadId);
  });

  test('a context policy filters what the next agent sees, and a question is put to it', async () => {
    scripts['reception'] = turns(calling('filtered'));
    scripts['billing'] = turns({ text: 'Done.' });
    const ref = await run();
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'Done.' });
    expect(prompts.at(-1)).toEqual(['system: You bill.', 'user: My invoice is wrong.', 'user: Only bill.']);
    expect(await lanefold.contexts.call(ref.threadId, `${ref.id}.2`)).toMatchObject({ verified: true });
  });

  test('an agent hands its answer on, as often as it may', async () => {
    scripts['reception'] = turns(calling('look'), { text: 'A draft.' });
    scripts['billing'] = turns({ text: 'Checked.' });
    const ref = await run({ agent: 'draft' });
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'Checked.', agent: 'billing', iteration: 3 });
    expect(prompts.at(-1)).toEqual([
      'system: You bill.',
      'user: My invoice is wrong.',
      'assistant: parts',
      'tool: parts',
      'assistant: A draft.',
      'user: Check the draft.',
    ]);
    const events = await eventsOf(lanefold, ref.threadId, ref.id);
    expect(events.filter(({ kind }) => kind === 'handed_over')).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === 'llm_completed')).toHaveLength(3);
    expect(events.some(({ kind }) => kind === 'llm_lost')).toBe(false);
    await expectSound(lanefold, ref.threadId);
    const { data } = await lanefold.threads.uiMessages(ref.threadId);
    expect(data.map(({ role }) => role)).toEqual(['user', 'assistant']);

    scripts['reception'] = turns({ text: 'to echoing' });
    scripts['billing'] = turns({ text: 'An echo.' });
    const bounded = await run({ agent: 'router' });
    expect(await ended(bounded)).toMatchObject({
      status: 'completed',
      result: 'to echoing',
      agent: 'router',
      iteration: 3,
    });
  });

  test('an agent may look at its answer first, and fails if nobody can take it', async () => {
    scripts['reception'] = turns({ text: 'I keep it.' });
    expect(await ended(await run({ agent: 'router' }))).toMatchObject({ result: 'I keep it.', agent: 'router' });
    for (const name of ['nobody', 'router', 'thinker']) {
      scripts['reception'] = turns({ text: `to ${name}` });
      expect(await ended(await run({ agent: 'router' }))).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('cannot hand its run on') as string },
      });
    }
  });

  test('an answer meets its contract before it is handed on', async () => {
    scripts['reception'] = turns({ text: 'much' }, { text: '{"total": 7}' });
    scripts['billing'] = turns({ text: 'Booked.' });
    const ref = await run({ agent: 'structured' });
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'Booked.', agent: 'billing' });
    const events = await eventsOf(lanefold, ref.threadId, ref.id);
    expect(events.filter(({ kind }) => kind.startsWith('output_')).map(({ kind }) => kind)).toEqual([
      'output_started',
      'output_repair',
      'output_validated',
    ]);
    await expectSound(lanefold, ref.threadId);
  });

  test('input that waits at the end goes to the next agent', async () => {
    let steer: () => Promise<unknown> = async () => {};
    scripts['reception'] = async () => {
      await steer();
      return { text: 'A draft.' };
    };
    scripts['billing'] = turns({ text: 'Checked.' });
    const threadId = 'steered';
    steer = () => lanefold.runs.steer(threadId, 'And be quick.');
    const ref = await run({ agent: 'draft', threadId, createThread: true });
    expect(await ended(ref)).toMatchObject({ result: 'Checked.', agent: 'billing' });
    expect(prompts.at(-1)!.slice(-3)).toEqual(['assistant: A draft.', 'user: Check the draft.', 'user: And be quick.']);
  });

  test('a definition that cannot hand on is refused', () => {
    const define = (onEnd: unknown, more = {}) =>
      defineAgent({ name: 'x', model: 'fake:billing', onEnd: onEnd as never, ...more });
    expect(() => define(handOff('billing'))).toThrow(/needs ask/);
    expect(() => define(handOff('x', { ask: 'Again.' }))).toThrow(/itself/);
    expect(() => define('billing')).toThrow(/must be handOff/);
    expect(() => define(handOff('billing', { ask: 'Go.' }), { strategy: 'cot' })).toThrow(/react/);
    expect(() => handOff('billing', { ask: ' ' })).toThrow(/blank/);
    expect(() => handOff('billing', { contextPolicy: { maxMessages: -1 } })).toThrow(/max_messages|maxMessages/);
  });

  test('a handoff waits for the other calls of its round', async () => {
    scripts['reception'] = turns(calling('transfer_to_billing', 'await_event'));
    scripts['billing'] = turns({ text: 'Billed.' });
    const ref = await run();
    await until('it waits', async () => (await lanefold.runs.get(ref)).status === 'suspended');
    await lanefold.events.send('ready');
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'Billed.', agent: 'billing' });
  });

  test('what cannot be handed over stays: unknown agents, itself, another strategy', async () => {
    scripts['reception'] = turns(calling('nowhere', 'self', 'to_thinker'), { text: 'I stay.' });
    const ref = await run();
    expect(await ended(ref)).toMatchObject({ status: 'completed', result: 'I stay.', agent: 'reception' });
    expect(
      (await results(ref)).map(([status, result]) => [status, /"type":"(\w+)"/.exec(String(result))?.[1]]),
    ).toEqual([
      ['error', 'unknown_agent'],
      ['error', 'invalid_handoff'],
      ['error', 'invalid_handoff'],
    ]);
  });

  test('a retry begins with the agent that was asked', async () => {
    scripts['reception'] = turns(calling('transfer_to_billing'), { text: 'Received.' });
    scripts['billing'] = turns({ text: 'Billed.' });
    const ref = await run({ maxIterations: 4 });
    await ended(ref);
    const again = await lanefold.runs.retry(ref);
    expect(await ended(again)).toMatchObject({ agent: 'reception', result: 'Received.' });
    expect((await lanefold.runs.get(again)).maxIterations).toBe(4);
  });
});
