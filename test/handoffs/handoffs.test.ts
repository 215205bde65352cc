import { defineAgent, defineTool, handOff, handoffTool, waitFor, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noRedis } from '../support/lanefold.ts';
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
const thinker = defineAgent({ name: 'thinker', model: 'fake:billing', strategy: 'cot' });

describe.skipIf(noRedis())('handing a run to another agent', () => {
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
    lanefold = await startRuntime([reception, billing, thinker], {
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
  const ended = (ref: RunRef) => lanefold.runs.wait(ref, { timeoutMs: 30_000 });
  const results = async (ref: RunRef) =>
    (await ledgerOf(lanefold, ref.threadId, ref.id)).map(({ status, result }) => [status, result]);

  test('the next agent goes on with the conversation, under its prompt, model and tools', async () => {
    scripts['reception'] = turns(calling('look', 'transfer_to_billing'));
    scripts['billing'] = turns({ text: 'It is corrected.', usage: [7, 3] });
    const ref = await run();
    expect(await ended(ref)).toMatchObject({
      ...{ status: 'completed', result: 'It is corrected.', agent: 'billing', model: 'fake:billing' },
      ...{ usage: { input_tokens: 17 }, otherUsage: { 'fake:reception': { input_tokens: 10, calls: 1 } } },
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
