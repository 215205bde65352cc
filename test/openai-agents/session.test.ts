// @module-tag slow
import { Agent, MemorySession, Runner, tool, type AgentInputItem, type Session } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel, type ScriptedModelInput } from '@openai/agents-core/testing';
import { defineAgent, isLanefoldError } from 'lanefold';
import { LanefoldSession } from 'lanefold/openai-agents';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
/** The slow agent is in its model call from `calling` until `answer`. */
let answer: (text: string) => void;
const answered = new Promise<string>((resolve) => (answer = resolve));
let noteCall: () => void;
const calling = new Promise<void>((resolve) => (noteCall = resolve));
const slow = fakeModel(async () => {
  noteCall();
  return { text: await answered };
});
beforeAll(async () => {
  const agents = [
    defineAgent({ name: 'echo', model: 'scripted:echo' }),
    defineAgent({ name: 'slow', model: 'slow:model' }),
  ];
  lanefold = await startLanefold({ agents, models: { slow: () => slow } });
});
afterAll(() => {
  answer('');
  return lanefold?.close();
});

const said = (content: string): AgentInputItem => ({ role: 'user', content });
const open = (sessionId: string) => new LanefoldSession(lanefold, { sessionId });
const rowsOf = async (thread: string) =>
  (await lanefold.contexts.project(thread, { contextRef: 'openai_agents' })).map(({ role, content }) => [
    role,
    content,
  ]);
const codeOf = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => 'it succeeded',
    (reason: unknown) => reason,
  );
  return isLanefoldError(error) ? error.code : error;
};

describe('the Runner of the SDK', () => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ at: z.string() }),
    execute: ({ at }) => `Saw ${at}`,
  });

  /** Two turns: one with two tools in parallel and one more, and one with only an answer. */
  async function converse(session: () => Session) {
    const model = new ScriptedModel([
      [functionCall('look', { at: 'a' }, { callId: 'c1' }), functionCall('look', { at: 'b' }, { callId: 'c2' })],
      [functionCall('look', { at: 'c' }, { callId: 'c3' })],
      [assistantMessage('All seen.')],
      [assistantMessage('You are welcome.')],
    ]);
    const agent = new Agent({ name: 'looker', instructions: 'Look.', model, tools: [look] });
    const runner = new Runner({ tracingDisabled: true });
    const outputs = [];
    for (const input of ['Look at it all.', 'Thanks!'])
      outputs.push((await runner.run(agent, input, { session: session() })).finalOutput);
    return { outputs, inputs: model.calls.map(({ request }) => request.input) };
  }

  test('has the same conversation as in memory, with another object for each turn', async () => {
    const memory = new MemorySession();
    const expected = await converse(() => memory);
    // as another process has it: nothing in common but the database
    const found = await converse(() => open('runner'));
    expect(found).toStrictEqual(expected);
    expect(found.outputs).toEqual(['All seen.', 'You are welcome.']);
    expect(await open('runner').getItems()).toStrictEqual(await memory.getItems());
    expect(await rowsOf('runner')).toEqual([
      ['user', 'Look at it all.'],
      ['assistant', ''],
      ['tool', 'Saw a'],
      ['tool', 'Saw b'],
      ['assistant', ''],
      ['tool', 'Saw c'],
      ['assistant', 'All seen.'],
      ['user', 'Thanks!'],
      ['assistant', 'You are welcome.'],
    ]);
  });

  /** The items of a session, and what the runner asked of it. */
  async function callsOf(session: MemorySession | LanefoldSession, steps: ScriptedModelInput[], inputs: string[]) {
    const blocked = {
      name: 'No secrets',
      execute: ({ agentOutput }: { agentOutput: unknown }) =>
        Promise.resolve({ tripwireTriggered: String(agentOutput).includes('secret'), outputInfo: {} }),
    };
    const agent = new Agent({
      name: 'looker',
      instructions: 'Look.',
      model: new ScriptedModel(steps),
      tools: [look],
      outputGuardrails: [blocked],
    });
    const calls = (['addItems', 'applyHistoryTransaction', 'clearSession'] as const).map((name) =>
      vi.spyOn(session as LanefoldSession, name),
    );
    const errors: unknown[] = [];
    for (const input of inputs)
      await new Runner({ tracingDisabled: true })
        .run(agent, input, { session })
        .catch((error: unknown) => errors.push((error as Error).constructor.name));
    return { items: await session.getItems(), errors, counts: calls.map(({ mock }) => mock.calls.length) };
  }

  test('keeps what tools did where a guardrail blocks the answer, and the next answer', async () => {
    const steps = () => [
      [functionCall('look', { at: 'a' }, { callId: 'c1' })],
      [assistantMessage('A secret.')],
      [assistantMessage('Nothing to see.')],
    ];
    const inputs = ['Look at it.', 'And now?'];
    const expected = await callsOf(new MemorySession(), steps(), inputs);
    const found = await callsOf(open('guarded'), steps(), inputs);
    expect(found).toStrictEqual(expected);
    expect(found.errors).toEqual(['OutputGuardrailTripwireTriggered']);
    // once for the blocked answer; the rest are plain items
    expect(found.counts[1]).toBe(1);
    expect(found.counts[0]).toBeGreaterThan(0);
    expect((await rowsOf('guarded')).map(([role]) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
  });

  test('compacts the history in one change, which keeps the ids of operations', async () => {
    const compaction = { type: 'compaction' as const, encrypted_content: 'x' };
    const steps = [[assistantMessage('Yes.')], [compaction, assistantMessage('Short.')]] as ScriptedModelInput[];
    const session = open('compacted');
    const operation = { operationId: 'o', transaction: { type: 'append_items' as const, items: [said('Zero.')] } };
    await session.applyHistoryTransaction(operation);
    const { items, counts } = await callsOf(session, steps, ['First.', 'Second.']);
    expect(items.map((item) => item.type ?? 'message')).toEqual(['compaction', 'message']);
    expect(counts[2]).toBe(0);
    const entries = await lanefold.threads.entries('compacted', { kind: 'openai_agents_items' });
    expect((entries.at(-1)!.payload as { items: string[] }).items).toHaveLength(2);
    expect(await rowsOf('compacted')).toEqual([['assistant', 'Short.']]);
    for (const each of [session, open('compacted')]) {
      await each.applyHistoryTransaction(operation);
      expect(await each.getItems()).toStrictEqual(items);
    }
    await session.clearSession();
    await open('compacted').applyHistoryTransaction(operation);
    expect(await session.getItems()).toEqual([said('Zero.')]);
  });

  test('changes what the lane does not show while a run of Lanefold works there', async () => {
    const session = open('worked');
    const call = { type: 'function_call', callId: 'c1', name: 'look', arguments: '{}' } as const;
    await session.addItems([said('First.')]);
    const worker = await lanefold.startWorker();
    const run = { threadId: 'worked', contextRef: 'openai_agents', agent: 'slow', input: 'Continue.' };
    const active = await lanefold.runs.enqueue(run);
    await calling;
    // the run has moved the end of the lane
    await session.addItems([call]);
    await open('worked').addItems([{ type: 'reasoning', content: [] }]);
    await session.popItem();
    expect(await codeOf(session.addItems([said('Second.')]))).toBe('lane_busy');
    answer('Done.');
    expect((await lanefold.runs.wait(active)).status).toBe('completed');
    await worker.stop();
    expect(await open('worked').getItems()).toStrictEqual([said('First.'), call]);
    expect((await rowsOf('worked')).map(([, content]) => content)).toEqual(['First.', 'Continue.', 'Done.']);
    await open('worked').popItem();
    await session.addItems([said('Second.')]);
    expect((await rowsOf('worked')).map(([, content]) => content)).toEqual(['First.', 'Second.']);
  });

  test('has the lane continued by an agent of Lanefold', async () => {
    await open('handed').addItems([
      said('First.'),
      { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Yes.' }] },
    ]);
    await lanefold.startWorker();
    const run = await lanefold.runs.enqueue({
      agent: 'echo',
      input: 'Second.',
      threadId: 'handed',
      contextRef: 'openai_agents',
    });
    expect((await lanefold.runs.wait(run)).status).toBe('completed');
    expect((await rowsOf('handed')).map(([role]) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    // the session is what the SDK put into it, and takes its lane back
    const session = open('handed');
    expect(await session.getItems()).toHaveLength(2);
    await session.addItems([said('Third.')]);
    expect(await rowsOf('handed')).toEqual([
      ['user', 'First.'],
      ['assistant', 'Yes.'],
      ['user', 'Third.'],
    ]);
  });
});

describe('items', () => {
  test('that leave a tool group open come to the lane when it is closed', async () => {
    const session = open('groups');
    const call = { type: 'function_call', callId: 'c1', name: 'look', arguments: '{"at":1}' } as const;
    await session.addItems([said('Look.'), call]);
    expect(await rowsOf('groups')).toEqual([['user', 'Look.']]);
    const result = {
      type: 'function_call_result',
      callId: 'c1',
      name: 'look',
      status: 'completed',
      output: 'Seen',
    } as const;
    await open('groups').addItems([result]);
    const rows = await lanefold.contexts.project('groups', { contextRef: 'openai_agents' });
    expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(rows[1]!.tool_calls).toEqual([{ id: 'c1', name: 'look', arguments: { at: 1 }, arguments_raw: '{"at":1}' }]);
    expect(await session.popItem()).toStrictEqual(result);
    expect(await rowsOf('groups')).toEqual([['user', 'Look.']]);
    expect(await session.getItems()).toStrictEqual([said('Look.'), call]);
  });

  test('that go are still in the log, until the thread is erased', async () => {
    const session = open('kept');
    await session.addItems([said('One'), said('Two')]);
    await session.popItem();
    await session.clearSession();
    expect([await session.getItems(), await rowsOf('kept')]).toEqual([[], []]);
    expect(JSON.stringify(await lanefold.threads.entries('kept'))).toContain('Two');
    await lanefold.threads.erase('kept');
    for (const each of [session, open('kept')]) {
      expect(await codeOf(each.getItems())).toBe('thread_erased');
      expect(await codeOf(each.addItems([said('x')]))).toBe('thread_erased');
    }
  });

  test('of pictures and files are on the lane as models take them', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';
    const items: AgentInputItem[] = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image: `data:image/png;base64,${png}` },
          { type: 'input_image', image: { id: 'file-1' } },
          { type: 'input_file', file: { url: 'https://shop.example/a.pdf' }, filename: 'a.pdf' },
        ],
      },
    ];
    const session = open('pictures');
    await session.addItems(items);
    expect(await open('pictures').getItems()).toStrictEqual(items);
    const [[, parts]] = (await rowsOf('pictures')) as [[string, { type: string }[]]];
    expect(parts.map(({ type }) => type)).toEqual(['text', 'file', 'text', 'text']);
    expect(parts[1]).toMatchObject({ media_type: 'image/png', data: png });
  });
});

describe('a long session', () => {
  test('is read page by page, and from its last clear on', async () => {
    const items = Array.from({ length: 1_100 }, (_, n) => said(String(n)));
    const { id } = await lanefold.threads.create({ id: 'pages' });
    const entries = items.map((item) => ({ kind: 'openai_agents_items', payload: { items: [JSON.stringify(item)] } }));
    const { pool } = lanefold.database;
    await pool.query('select lanefold.append_entries($1, $2)', [id, JSON.stringify(entries)]);
    const session = open(id);
    expect(await session.getItems()).toStrictEqual(items);
    await session.clearSession();
    await session.addItems([said('New.')]);
    // what is before the clear plays no part any more
    await pool.query('alter table lanefold._entry disable trigger append_only');
    await pool.query(`update lanefold._entry set payload = '{"items": 7}' where thread_id = $1 and seq = 5`, [id]);
    await pool.query('alter table lanefold._entry enable trigger append_only');
    expect(await open(id).getItems()).toStrictEqual([said('New.')]);
  });

  test('whose thread is forked refuses the fork, which has the lane but not the items', async () => {
    await open('stem').addItems([said('One')]);
    const { id } = await lanefold.threads.fork('stem');
    const { rev } = await lanefold.threads.peek(id);
    const session = open(id);
    for (const call of [session.getItems(), session.addItems([said('Two')]), session.popItem(), session.clearSession()])
      expect(await codeOf(call)).toBe('invalid_input');
    expect([(await lanefold.threads.peek(id)).rev, await rowsOf(id)]).toEqual([rev, [['user', 'One']]]);
    const beside = new LanefoldSession(lanefold, { sessionId: id, lane: 'beside' });
    await beside.addItems(await open('stem').getItems());
    expect(await beside.getItems()).toEqual([said('One')]);
    await open('stem').addItems([said('Two')]);
  });
});

describe('transactions', () => {
  const append = (operationId: string, ...items: AgentInputItem[]) => ({
    operationId,
    transaction: { type: 'append_items' as const, items },
  });

  test('with one operation id are applied once, by whichever process comes first', async () => {
    await Promise.all(Array.from({ length: 6 }, () => open('once').applyHistoryTransaction(append('o', said('x')))));
    expect(await open('once').getItems()).toEqual([said('x')]);
    expect(await codeOf(open('once').applyHistoryTransaction(append('o', said('y'))))).toBe('idempotency_mismatch');
    await open('once').clearSession();
    await open('once').applyHistoryTransaction(append('o', said('y')));
    expect(await open('once').getItems()).toEqual([said('y')]);
  });

  test('that replace what is no longer there are refused, and change nothing', async () => {
    const [one, other] = [open('suffix'), open('suffix')];
    await one.addItems([said('a'), said('b')]);
    const replace = (...expectedSuffix: AgentInputItem[]) => ({
      operationId: 'r',
      transaction: { type: 'replace_suffix' as const, expectedSuffix, replacement: [said('c')] },
    });
    await other.popItem();
    const { rev } = await lanefold.threads.peek('suffix');
    expect(await codeOf(one.applyHistoryTransaction(replace(said('b'))))).toBe('session_changed');
    expect(await codeOf(one.applyHistoryTransaction(replace(said('x'), said('a'))))).toBe('session_changed');
    expect((await lanefold.threads.peek('suffix')).rev).toBe(rev);
    await one.applyHistoryTransaction(replace(said('a')));
    expect(await other.getItems()).toEqual([said('c')]);
  });
});

test('objects that change a session at once lose and repeat nothing', async () => {
  const popped = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const session = open('busy');
      const own: unknown[] = [];
      for (let n = 0; n < 12; n++) {
        await session.addItems([said(`${name}${n}`)]);
        if (n % 3 === 2) own.push(await session.popItem());
      }
      return own;
    }),
  );
  const all = [...(await open('busy').getItems()), ...popped.flat()].map(
    (item) => (item as { content: string }).content,
  );
  const expected = ['a', 'b', 'c'].flatMap((name) => Array.from({ length: 12 }, (_, n) => `${name}${n}`));
  expect(all.sort()).toEqual(expected.sort());
  expect((await rowsOf('busy')).map(([, content]) => content)).toEqual(
    (await open('busy').getItems()).map((item) => (item as { content: string }).content),
  );
});

describe('refuses', () => {
  test('ids, options and items that are not valid', async () => {
    const make = (given: unknown, options?: object) =>
      codeOf((async () => new LanefoldSession(given as TestLanefold, options))());
    expect(await make(lanefold, { sessionId: 'no spaces' })).toBe('invalid_id');
    expect(await make(lanefold, { sessionId: '' })).toBe('invalid_id');
    expect(await make(lanefold, { lane: '' })).toBe('invalid_id');
    expect(await make(lanefold, { session: 'x' })).toBe('invalid_input');
    expect(await make({}, {})).toBe('invalid_input');
    const session = open('bad');
    expect(await codeOf(session.addItems([{ role: 'user', content: (() => 1) as unknown as string }]))).toBe(
      'invalid_input',
    );
    expect(await codeOf(session.addItems('x' as unknown as AgentInputItem[]))).toBe('invalid_input');
    for (const args of [
      null,
      {},
      { operationId: ' ', transaction: {} },
      { operationId: 'o', transaction: { type: 'x' } },
    ])
      expect(await codeOf(session.applyHistoryTransaction(args as never))).toBe('invalid_input');
    expect(await codeOf(lanefold.threads.peek('bad'))).toBe('thread_not_found');
    expect(await new LanefoldSession(lanefold).getSessionId()).toMatch(/^thread_/);
  });

  test.each([
    { items: 'x' },
    { items: [7] },
    { items: [], drop: 1 },
    { items: [], clear: 'yes' },
    { items: ['{'] },
    { items: ['v8:AAAA'] },
  ])('to read an entry that another program wrote: %j', async (payload) => {
    const thread = await lanefold.threads.create();
    // as someone with the rights of the database can, but no caller of Lanefold
    const forged = JSON.stringify([{ kind: 'openai_agents_items', context_ref: 'openai_agents', payload }]);
    await lanefold.database.pool.query('select lanefold.append_entries($1, $2)', [thread.id, forged]);
    const session = open(thread.id);
    expect(await codeOf(session.getItems())).toBe('history_unreadable');
    expect(await codeOf(session.addItems([said('a')]))).toBe('history_unreadable');
    expect((await lanefold.threads.peek(thread.id)).rev).toBe(1);
  });

  test('a lane with an active run, and a thread of another tenant', async () => {
    const session = open('active');
    await session.addItems([said('a')]);
    const delayed = { agent: 'echo', input: 'x', threadId: 'active', contextRef: 'openai_agents', delayMs: 600_000 };
    const run = await lanefold.runs.enqueue(delayed);
    for (const change of [session.addItems([said('b')]), session.popItem(), session.clearSession()])
      expect(await codeOf(change)).toBe('lane_busy');
    expect(await session.getItems()).toEqual([said('a')]);
    await lanefold.runs.cancel(run);
    await session.popItem();
    expect(await session.getItems()).toEqual([]);
    const foreign = new LanefoldSession(lanefold.forTenant('acme'), { sessionId: 'active' });
    expect(await foreign.getItems()).toEqual([]);
    expect(await codeOf(foreign.addItems([said('c')]))).toBe('thread_exists');
  });
});
