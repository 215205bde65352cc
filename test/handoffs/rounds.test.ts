import { callAgent, defineAgent, defineTool, handOff, handoffTool, waitFor, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { entriesOf, eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

const nothing = z.object({});
const handedTo = (agent: string) => `{"handed_to":"${agent}"}`;
/** What a test does inside a tool that hands over. */
let before: (runId: string) => Promise<unknown> = async () => {};

const reception = defineAgent({
  name: 'reception',
  model: 'fake:reception',
  tools: [
    handoffTool('billing'),
    handoffTool('support'),
    handoffTool('support', { name: 'asked', needsApproval: true }),
    defineTool({ name: 'look', input: nothing, execute: () => 'looked' }),
    defineTool({ name: 'await_event', input: nothing, execute: () => waitFor('round-ready') }),
    defineTool({ name: 'ask_child', input: nothing, execute: () => callAgent('child', { input: 'Hm?' }) }),
    defineTool({
      name: 'late',
      input: nothing,
      execute: async (_, { runId }) => {
        await before(runId);
        return handOff('billing');
      },
    }),
  ],
});
const named = ['billing', 'support', 'child'].map((name) =>
  defineAgent({ name, model: `scripted:["${name} answers."]` }),
);

describe('a round with several calls, of which some hand the run over', () => {
  let lanefold: Runtime;
  let calls: string[] = [];
  beforeAll(async () => {
    const model = fakeModel(({ prompt }) =>
      prompt.some(({ role }) => role === 'tool')
        ? { text: 'I keep it.' }
        : { calls: calls.map((name) => ({ id: name, name, args: {} })) },
    );
    lanefold = await startRuntime([reception, ...named], {
      worker: { sweepMs: 50 },
      models: { 'fake:reception': model } as never,
    });
  });
  afterAll(() => lanefold?.close());

  const start = (...names: string[]) => {
    calls = names;
    return lanefold.runs.enqueue({ agent: 'reception', input: 'My invoice is wrong.' });
  };
  const told = async ({ threadId, id }: RunRef) =>
    (await ledgerOf(lanefold, threadId, id)).map(({ status, result }) => [
      status,
      /"type":"(\w+)"/.exec(String(result))?.[1] ?? result,
    ]);
  /** The tool messages, the events and the statuses of the ledger say the same of each call. */
  const expectTold = async (ref: RunRef, expected: unknown[][]) => {
    expect(await told(ref)).toEqual(expected);
    const messages = (await entriesOf(lanefold, ref.threadId)).filter(({ role }) => role === 'tool');
    expect(messages.map(({ payload }) => String(payload['content']))).toEqual(
      (await ledgerOf(lanefold, ref.threadId, ref.id)).map(({ result }) => result),
    );
    const claims = expected.map(([, result]) => String(result).startsWith('{"handed_to"'));
    expect(messages.map(({ refs }) => refs?.['handoff'] !== undefined)).toEqual(claims);
    const events = await eventsOf(lanefold, ref.threadId, ref.id);
    expect(events.filter(({ kind }) => kind === 'tool_completed').map(({ data }) => data['status'])).toEqual(
      expected.map(([status]) => status),
    );
    expect(events.filter(({ kind }) => kind === 'handed_over')).toHaveLength(claims.filter(Boolean).length);
    await expectSound(lanefold, ref.threadId);
  };
  const suspended = (ref: RunRef) =>
    until('it waits', async () => (await lanefold.runs.get(ref)).status === 'suspended');

  test('the first call hands the run over, and later ones say which agent has it', async () => {
    const ref = await start('look', 'transfer_to_billing', 'transfer_to_support', 'transfer_to_billing');
    expect(await lanefold.runs.wait(ref)).toMatchObject({ agent: 'billing', result: 'billing answers.' });
    await expectTold(ref, [
      ['ok', 'looked'],
      ['ok', handedTo('billing')],
      ['error', 'already_handed_over'],
      ['error', 'already_handed_over'],
    ]);
    const [, , later] = await ledgerOf(lanefold, ref.threadId, ref.id);
    expect(later!.result).toContain('billing');
    expect(later!.result).not.toContain('support');
  });

  test('the first one is the first by order, also if it ends last', async () => {
    before = (runId) => until('the other one is stored', async () => (await outcomeOf(runId, 1)) !== undefined);
    const ref = await start('late', 'transfer_to_support');
    expect(await lanefold.runs.wait(ref)).toMatchObject({ agent: 'billing' });
    await expectTold(ref, [
      ['ok', handedTo('billing')],
      ['error', 'already_handed_over'],
    ]);
  });

  test('while the round runs, the ledger does not say that a run was handed over', async () => {
    const ref = await start('transfer_to_billing', 'await_event');
    await suspended(ref);
    expect((await told(ref))[0]).toEqual(['ok', '{"hands_to":"billing"}']);
    await lanefold.events.send('round-ready');
    expect(await lanefold.runs.wait(ref)).toMatchObject({ agent: 'billing' });
    expect((await told(ref))[0]).toEqual(['ok', handedTo('billing')]);
  });

  test.each([
    [
      'approve',
      'support',
      [
        ['ok', handedTo('support')],
        ['error', 'already_handed_over'],
      ],
    ],
    [
      'deny',
      'billing',
      [
        ['denied', 'approval_denied'],
        ['ok', handedTo('billing')],
      ],
    ],
  ] as const)('beside one that needs approval: %s', async (decision, agent, expected) => {
    const ref = await start('asked', 'transfer_to_billing');
    await suspended(ref);
    await lanefold.runs[decision](ref, '1.0');
    expect(await lanefold.runs.wait(ref)).toMatchObject({ agent });
    const all = await told(ref);
    expect(all[1]).toEqual(expected[1]);
    expect(all[0]![0]).toBe(expected[0][0]);
  });

  test('beside a call of another agent, whose answer comes first', async () => {
    const ref = await start('transfer_to_billing', 'ask_child', 'transfer_to_support');
    expect(await lanefold.runs.wait(ref)).toMatchObject({ agent: 'billing' });
    await expectTold(ref, [
      ['ok', handedTo('billing')],
      ['ok', 'child answers.'],
      ['error', 'already_handed_over'],
    ]);
  });

  test('a run that is cancelled before its round ends was not handed over', async () => {
    const ref = await start('transfer_to_billing', 'await_event');
    await suspended(ref);
    await lanefold.runs.cancel(ref);
    expect(await lanefold.runs.wait(ref)).toMatchObject({ status: 'cancelled', agent: 'reception' });
    await expectTold(ref, [
      ['abandoned', 'cancelled'],
      ['abandoned', 'cancelled'],
    ]);
  });

  test('a run that is cancelled as its round ends was not handed over', async () => {
    // the worker learns of it from the commit that hands over: the notification comes too late
    before = (runId) =>
      lanefold.database.pool.query(
        "update lanefold._run set cancel_requested_at = now(), cancel_reason = 'enough' where id = $1",
        [runId],
      );
    const ref = await start('look', 'late');
    expect(await lanefold.runs.wait(ref)).toMatchObject({ status: 'cancelled', agent: 'reception' });
    await expectTold(ref, [
      ['ok', 'looked'],
      ['error', 'cancelled'],
    ]);
  });

  const outcomeOf = async (runId: string, index: number) => {
    const { rows } = await lanefold.database.pool.query<{ outcome: object | null }>(
      'select outcome from lanefold._tool_call where run_id = $1 and call_index = $2',
      [runId, index],
    );
    return rows[0]?.outcome ?? undefined;
  };
});
