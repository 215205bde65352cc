// @module-tag slow
import type { RunAgentInput, Event } from '@ag-ui/core';
import {
  agentTool,
  clientTool,
  createLanefold,
  defineAgent,
  defineTool,
  waitFor,
  withEffects,
  type Lanefold,
  type RunRef,
} from 'lanefold';
import { createAgUiHandler, type AgUiHandler, type AgUiOptions } from 'lanefold/ag-ui';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { collectGarbage } from '../support/collect-garbage.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { treeModel } from '../support/tree-model.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { clientOf, noWarnings, user, type Client } from './client.ts';

describe('the handler for AG-UI, called by the protocol’s own client', () => {
  let front: TestLanefold;
  let back: Lanefold;
  let model: TypedModel;
  let child: TypedModel;
  let handler: AgUiHandler;
  let assertQuiet: () => void;
  beforeEach(() => void (assertQuiet = noWarnings()));
  afterEach(() => assertQuiet());

  const look = defineTool({ name: 'look', input: z.object({ at: z.string() }), execute: ({ at }) => ({ seen: at }) });
  const dig = defineTool({ name: 'dig', input: z.object({}), needsApproval: true, execute: () => 'dug' });
  const pay = defineTool({ name: 'pay', input: z.object({}), execute: (_, { runId }) => waitFor(`paid:${runId}`) });
  const where = clientTool({ name: 'where', input: z.object({}) });
  const put = defineTool({
    name: 'put',
    input: z.object({ key: z.string(), value: z.any() }),
    execute: ({ key, value }) => withEffects('put', [{ op: 'set_path', path: key.split('/'), value: value as never }]),
  });

  beforeAll(async () => {
    model = typedModel();
    child = typedModel();
    const agents = [
      defineAgent({
        name: 'typist',
        model: 'typed:m',
        tools: [look, dig, pay, where, put, agentTool('helper')],
        maxIterations: 8,
      }),
      defineAgent({ name: 'helper', model: 'child:m' }),
      defineAgent({ name: 'form', model: 'typed:m', output: { schema: z.object({ n: z.number() }) } }),
      defineAgent({ name: 'thinker', model: 'tree:m', strategy: 'tot' }),
      defineAgent({ name: 'digger', model: 'digs:m', strategy: 'tot', tools: [dig] }),
      defineAgent({ name: 'unsolved', model: 'typed:m', strategy: 'aot' }),
      ...strategies.map((strategy) => defineAgent({ name: strategy, model: 'scripted:echo', strategy })),
    ];
    const models = { typed: () => model, child: () => child, tree: () => treeModel(), digs: () => diggingModel() };
    front = await startLanefold({ agents, models });
    back = await createLanefold(front.options);
    await back.startWorker();
    handler = handlerOf();
  });
  afterAll(async () => {
    await back?.close();
    await front?.close();
  });

  const strategies = ['cot', 'cod', 'aot', 'got', 'trm', 'adaptive'] as const;

  /** As the model of a tree, but its first question calls a tool. */
  function diggingModel() {
    const tree = treeModel();
    let first = true;
    return fakeModel(async (call) => {
      if (first) {
        first = false;
        return { calls: [{ id: 'd', name: 'dig', args: {} }] };
      }
      const { content } = await tree.doGenerate(call);
      return { text: (content[0] as { text: string }).text };
    });
  }

  const handlerOf = (options: Partial<AgUiOptions> = {}) =>
    createAgUiHandler(front, {
      agent: 'typist',
      authorize:
        () =>
        ({ threadId }) => ({ threadId, tenantId: 'acme', by: 'ada' }),
      onError: () => {},
      ...options,
    });
  const url = 'https://shop.example/api/ag-ui';
  const join = (threadId: string, by: AgUiHandler = handler): Client =>
    clientOf({ url, threadId, fetch: (to, init) => by(new Request(to, init)) });
  const ask = (client: Client, id: string, text: string, input: Partial<RunAgentInput> = {}) => {
    client.agent.addMessage(user(id, text));
    return client.agent.runAgent(input);
  };
  /** Another client of the same thread has in the end what this one has. */
  const same = async (client: Client) => {
    const other = join(client.agent.threadId);
    await other.agent.runAgent();
    expect(other.said()).toEqual(client.said());
    expect(other.agent.state).toEqual(client.agent.state);
    return other;
  };

  test('streams reasoning, text, calls and results, and the next question adds to them', async () => {
    const client = join('first');
    const asked = ask(client, 'm1', 'hi');
    const keys = await model.next();
    keys.think('Where to look?');
    keys.type('I look.');
    keys.stop({ id: 'c', name: 'look', args: { at: 'the sea' } }, { id: 'c', name: 'look', args: { at: 'the sky' } });
    const last = await model.next();
    last.type('Blue.');
    last.stop();
    await asked;
    const call = ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'];
    expect(client.types().filter((type, at, all) => type !== all[at - 1])).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_END',
      ...call,
      ...call,
      'TOOL_CALL_RESULT',
      'STEP_FINISHED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    const { runId } = client.events[0] as { runId: string };
    expect(client.last()).toMatchObject({
      type: 'RUN_FINISHED',
      threadId: 'first',
      runId,
      outcome: { type: 'success' },
      usage: [{ provider: 'typed', model: 'm', inputTokens: 20, outputTokens: 10, totalTokens: 30 }],
      metadata: { lanefold: { termination_reason: 'final_answer' } },
    });
    expect(client.said().map(({ role }) => role)).toEqual([
      'user',
      'reasoning',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
    await same(client);

    const before = client.events.length;
    const again = ask(client, 'm2', 'and now?');
    const more = await model.next();
    more.type('Still blue.');
    more.stop();
    await again;
    // what the client has is what the log has, so nothing is sent again
    expect(client.types().slice(before)).not.toContain('MESSAGES_SNAPSHOT');
    await same(client);
    expect((await front.runs.list({ threadId: 'first' })).data).toHaveLength(2);
    expect(await front.threads.get('first')).toMatchObject({ tenantId: 'acme' });
  });

  test('shows the state as it changes, and corrects the one of a client', async () => {
    const client = join('state');
    const asked = ask(client, 'm1', 'put');
    (await model.next()).stop(
      { id: 'a', name: 'put', args: { key: 'cart/items', value: ['tea'] } },
      { id: 'b', name: 'put', args: { key: 'city', value: 'Lisbon' } },
    );
    await until('the state changed', () => client.types().includes('STATE_DELTA'));
    expect(client.agent.state).toEqual({ cart: { items: ['tea'] }, city: 'Lisbon' });
    (await model.next()).stop({ id: 'c', name: 'put', args: { key: '__proto__/x', value: 1 } });
    (await model.next()).stop();
    await asked;
    expect(client.types().filter((type) => type.startsWith('STATE'))).toEqual(['STATE_DELTA', 'STATE_SNAPSHOT']);
    client.agent.setState({ city: 'Porto' });
    const again = ask(client, 'm2', 'and?');
    (await model.next()).stop();
    await again;
    expect(client.agent.state).toEqual((await front.threads.peek('state')).state);
    await same(client);
  });

  test('ends for approvals, and the answers continue the run', async () => {
    const client = join('dig');
    const asked = ask(client, 'm1', 'dig');
    const two = [
      { id: 'd', name: 'dig' },
      { id: 'l', name: 'look', args: { at: 'it' } },
      { id: 'd', name: 'dig' },
    ];
    (await model.next()).stop(...two);
    await asked;
    const [first, second] = client.agent.pendingInterrupts;
    const runId = (await front.threads.peek('dig')).activeRunId!;
    expect([first, second]).toMatchObject([
      { id: `approval:${runId}:1.0`, reason: 'tool_call', toolCallId: `${runId}.1#0`, expiresAt: expect.any(String) },
      { id: `approval:${runId}:1.2`, reason: 'tool_call', toolCallId: `${runId}.1#2` },
    ]);
    // a client that reloads learns of them too
    const other = join('dig');
    await other.agent.runAgent();
    expect(other.agent.pendingInterrupts).toEqual(client.agent.pendingInterrupts);
    expect(other.said()).toEqual(client.said());
    const usage = (client.last() as { usage: object[] }).usage;
    expect(usage).toMatchObject([{ inputTokens: 10 }]);

    const before = client.events.length;
    const resume = [
      { interruptId: first!.id, status: 'resolved' as const, payload: { approved: true } },
      { interruptId: second!.id, status: 'cancelled' as const },
    ];
    const resumed = client.agent.runAgent({ resume });
    const keys = await model.next();
    keys.type('One hole.');
    keys.stop();
    await resumed;
    const since = client.events.slice(before);
    expect(since.map(({ type }) => type).filter((type) => /TOOL|SNAPSHOT/.test(type))).toEqual([
      'TOOL_CALL_RESULT',
      'TOOL_CALL_RESULT',
    ]);
    expect(since.at(-1)).toMatchObject({ outcome: { type: 'success' }, usage: [{ inputTokens: 10, outputTokens: 5 }] });
    await same(client);
    // the same answers again change nothing; others are late
    const replayed = join('dig');
    await replayed.agent.runAgent({ resume });
    expect(replayed.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    await refuses(replayed, 409, 'interrupt_ended', {
      resume: [{ ...resume[0]!, payload: { approved: false } }, resume[1]!],
    });
    expect(await front.runs.list({ threadId: 'dig' })).toMatchObject({ data: [{ id: runId }] });
  });

  test('an answer to a call that is not suspended yet decides nothing', async () => {
    const client = join('early');
    const asked = ask(client, 'm1', 'dig');
    (await model.next()).stop({ id: 'd', name: 'dig' });
    await asked;
    const interruptId = client.agent.pendingInterrupts[0]!.id;
    // as a request reads the run that is suspended right after it
    const get = async (ref: RunRef) => ({
      ...(await front.runs.get(ref)),
      status: 'running',
      waits: [],
      approvals: [],
    });
    const slow = { ...front, runs: { ...front.runs, get } } as unknown as Lanefold;
    const by = createAgUiHandler(slow, {
      agent: 'typist',
      authorize:
        () =>
        ({ threadId }) => ({ threadId }),
    });
    await refuses(join('early', by), 409, 'interrupt_ended', {
      resume: [{ interruptId, status: 'resolved', payload: { approved: true } }],
    });
    const run = { threadId: 'early', id: (await front.threads.peek('early')).activeRunId! };
    expect((await front.runs.get(run)).approvals).toHaveLength(1);
  });

  test('ends for events, whose payload is the result of the call', async () => {
    const client = join('pay');
    const asked = ask(client, 'm1', 'pay');
    (await model.next()).stop({ id: 'p', name: 'pay' });
    await asked;
    const [open] = client.agent.pendingInterrupts;
    expect(open).toMatchObject({
      reason: 'input_required',
      responseSchema: {},
      message: expect.stringMatching(/paid:run_/),
    });
    const resume = [{ interruptId: open!.id, status: 'resolved' as const, payload: { amount: 3 } }];
    const resumed = client.agent.runAgent({ resume });
    (await model.next()).stop();
    await resumed;
    expect(client.said().find(({ role }) => role === 'tool')).toMatchObject({ content: '{"amount":3}' });
    await same(client);
    const late = join('pay');
    await late.agent.runAgent({ resume });
    await refuses(late, 409, 'interrupt_ended', { resume: [{ ...resume[0]!, payload: { amount: 4 } }] });
  });

  test('a client whose interrupts have ended elsewhere cancels them, and continues', async () => {
    const client = join('elsewhere');
    const asked = ask(client, 'm1', 'dig');
    (await model.next()).stop({ id: 'd', name: 'dig' }, { id: 'p', name: 'pay' });
    await asked;
    const ids = client.agent.pendingInterrupts.map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const run = { threadId: 'elsewhere', id: (await front.threads.peek('elsewhere')).activeRunId! };
    await front.runs.approve(run, '1.0');
    const cancelled = ids.map((interruptId) => ({ interruptId, status: 'cancelled' as const }));
    // what is open is answered all the same
    await refuses(client, 409, 'interrupt_ended', {
      resume: [{ ...cancelled[0]!, status: 'resolved', payload: { approved: false } }, cancelled[1]!],
    });
    const resumed = client.agent.runAgent({ resume: cancelled });
    (await model.next()).fail(new Error('no'));
    await resumed.catch(() => {});
    expect((await front.runs.get(run)).toolCalls.map(({ status }) => status)).toEqual(['ok', 'error']);
    // a run that has failed leaves its interrupts with the client
    expect(client.agent.pendingInterrupts).toHaveLength(2);
    const next = ask(client, 'm2', 'and now?', { resume: cancelled });
    (await model.next()).stop();
    await next;
    expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(client.agent.pendingInterrupts).toEqual([]);
    await same(client);
  });

  test('lets the client run its own tools', async () => {
    const client = join('where');
    const tools = [{ name: 'where', description: 'Where the user is.', parameters: {} }];
    const asked = ask(client, 'm1', 'where am I?', { tools });
    (await model.next()).stop({ id: 'w', name: 'where' }, { id: 'l', name: 'look', args: { at: 'it' } });
    await asked;
    const end = client.last() as Extract<Event, { type: 'RUN_FINISHED' }>;
    const [pending] = (end.outcome as { pendingToolCallIds: string[] }).pendingToolCallIds;
    expect(end.outcome).toEqual({ type: 'success', pendingToolCallIds: [expect.stringMatching(/\.1#0$/)] });
    const image = { type: 'image' as const, source: { type: 'url' as const, value: 'https://example.com/a.png' } };
    for (const [content, code] of [
      ['x'.repeat(300_000), 'invalid_input'],
      [[image], 'invalid_input'],
      ['\u0000', 'invalid_text'],
    ] as const) {
      const wrong = join('where');
      wrong.agent.addMessage({ id: 'r0', role: 'tool', toolCallId: pending!, content: content as string });
      await refuses(wrong, 400, code);
    }
    client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: pending!, content: 'at sea' });
    const before = client.events.length;
    const answered = client.agent.runAgent({ tools });
    const keys = await model.next();
    expect(JSON.stringify(keys.call.prompt.at(-1))).toContain('at sea');
    keys.type('You are at sea.');
    keys.stop();
    await answered;
    expect(
      client
        .types()
        .slice(before)
        .filter((type) => /TOOL|SNAPSHOT/.test(type)),
    ).toEqual([]);
    // a result of the client's own stays where the client has put it, which is no difference
    const next = client.events.length;
    const again = ask(client, 'm2', 'thanks');
    (await model.next()).stop();
    await again;
    expect(client.types().slice(next)).not.toContain('MESSAGES_SNAPSHOT');
    const other = join('where');
    await other.agent.runAgent();
    const results = (of: Client) =>
      of.said().flatMap((m) => (m.role === 'tool' ? [[m.id, m.toolCallId, m.content]] : []));
    expect(results(other).sort()).toEqual(results(client).sort());
    expect(results(client)).toHaveLength(2);
  });

  test('ignores tools that the agent does not have, and says so', async () => {
    const client = join('lacks');
    const tools = ['fly', 'look', 'dive'].map((name) => ({ name, description: 'Of the page.', parameters: {} }));
    const asked = ask(client, 'm1', 'hi', { tools });
    (await model.next()).stop();
    await asked;
    await client.agent.runAgent({ tools });
    expect(client.events.filter(({ type }) => type === 'CUSTOM')).toEqual(
      Array.from({ length: 2 }, () => ({
        type: 'CUSTOM',
        name: 'lanefold.tools_ignored',
        value: { agent: 'typist', tools: ['fly', 'dive'] },
      })),
    );
  });

  test('shows sub-agents while they work, and counts what they use', async () => {
    const client = join('helped');
    const asked = ask(client, 'm1', 'help');
    (await model.next()).stop({ id: 'h', name: 'ask_helper', args: { task: 'count' } });
    const helping = await child.next();
    await until('it is shown', () => client.types().includes('SUBAGENT_STARTED'));
    const late = join('helped');
    const joined = late.agent.runAgent();
    await until('to who joins too', () => late.types().includes('SUBAGENT_STARTED'));
    helping.type('Three.');
    helping.stop();
    (await model.next()).stop();
    await Promise.all([asked, joined]);
    for (const { events } of [client, late]) {
      const ofSub = events.filter(({ type }) => type.startsWith('SUBAGENT'));
      expect(ofSub).toMatchObject([
        { type: 'SUBAGENT_STARTED', name: 'helper', parentToolCallId: expect.stringMatching(/#0$/) },
        { type: 'SUBAGENT_FINISHED', outcome: { type: 'success' } },
      ]);
      expect((events.at(-1) as { usage: object[] }).usage).toMatchObject([
        { provider: 'typed', inputTokens: 20 },
        { provider: 'child', inputTokens: 10 },
      ]);
    }
    expect(late.said()).toEqual(client.said());
  });

  test('shows what steers a run, text or not', async () => {
    const client = join('steered');
    const asked = ask(client, 'm1', 'hi');
    const keys = await model.next();
    await front.runs.steer('steered', 'Shorter, please.');
    await front.runs.steer('steered', [
      { type: 'text', text: 'Like this:' },
      { type: 'file', media_type: 'image/png', data: 'aGk=' },
    ]);
    keys.type('A long story.');
    keys.stop();
    const last = await model.next();
    last.type('Short.');
    last.stop();
    await asked;
    expect(client.said().map(({ content }) => content)).toEqual([
      'hi',
      'A long story.',
      'Shorter, please.',
      [
        { type: 'text', text: 'Like this:' },
        { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
      ],
      'Short.',
    ]);
    await same(client);
  });

  test('has the output of a run as its result, also once its trace is gone', async () => {
    const client = join('form', handlerOf({ agent: 'form' }));
    const asked = ask(client, 'm1', 'a number', { runId: 'r-form' });
    const keys = await model.next();
    keys.type('{"n": 3}');
    keys.stop();
    expect(await asked).toMatchObject({ result: { n: 3 } });
    const { id } = (await front.runs.list({ threadId: 'form' })).data[0]!;
    await front.database.pool.query('delete from lanefold._event_batch where thread_id = $1', ['form']);
    expect(await front.runs.events({ threadId: 'form', id })).toEqual([]);
    const later = join('form', handlerOf({ agent: 'form' }));
    later.agent.addMessage(user('m1', 'a number'));
    expect(await later.agent.runAgent({ runId: 'r-form' })).toMatchObject({ result: { n: 3 } });
    expect(later.said()).toEqual(client.said());
  });

  test('shows the questions of strategies as activities', async () => {
    const client = join('tree', handlerOf({ agent: 'thinker' }));
    await ask(client, 'm1', 'How do I get to Lisbon?');
    const activities = client.agent.messages.filter(({ role }) => role === 'activity');
    expect(activities.length).toBeGreaterThan(2);
    expect(activities[0]).toMatchObject({
      activityType: 'lanefold.node',
      content: { node: 1, status: expect.any(String) },
    });
    expect(client.said()).toHaveLength(2);
    await same(client);
    // a client that comes later has them as they are in the end
    const later = join('tree', handlerOf({ agent: 'thinker' }));
    later.agent.addMessage(client.agent.messages[0]!);
    await later.agent.runAgent({ runId: (client.events[0] as { runId: string }).runId });
    const shown = (of: Client) => of.agent.messages.flatMap((m) => (m.role === 'activity' ? [[m.id, m.content]] : []));
    expect(shown(later)).toHaveLength(activities.length);
    expect(shown(later)).toEqual(shown(client));
  });

  test.each(strategies)('leaves the messages of the log with the strategy %s', async (strategy) => {
    const client = join(`by-${strategy}`, handlerOf({ agent: strategy }));
    await ask(client, 'm1', 'How do I get to Lisbon?');
    expect(client.last().type).toMatch(/^RUN_(FINISHED|ERROR)$/);
    await same(client);
  });

  test('ends for approvals of calls that a strategy makes outside the conversation', async () => {
    const by = handlerOf({ agent: 'digger' });
    const client = join('digger', by);
    await ask(client, 'm1', 'How do I get to Lisbon?');
    const [open] = client.agent.pendingInterrupts;
    expect(open).toMatchObject({ reason: 'input_required', message: 'May dig be called?' });
    expect(open).not.toHaveProperty('toolCallId');
    await client.agent.runAgent({
      resume: [{ interruptId: open!.id, status: 'resolved', payload: { approved: true } }],
    });
    expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(client.said()).toHaveLength(2);
    await same(client);
  });

  test('takes back what a provider said before it failed', async () => {
    const client = join('retry');
    const asked = ask(client, 'm1', 'hi');
    const keys = await model.next();
    keys.think('Hm.');
    keys.type('Half a sent');
    await until('it is shown', () => JSON.stringify(client.said()).includes('Half a sent'));
    keys.fail(Object.assign(new Error('overloaded'), { statusCode: 529, isRetryable: true }));
    await until('it is taken back', () => !JSON.stringify(client.said()).includes('Half a sent'));
    const again = await model.next();
    again.type('A sentence.');
    again.stop();
    await asked;
    expect(
      client
        .said()
        .filter(({ role }) => role !== 'reasoning')
        .map(({ content }) => content),
    ).toEqual(['hi', 'A sentence.']);
  });

  test('takes back the text of a strategy that found no answer', async () => {
    const client = join('unsolved', handlerOf({ agent: 'unsolved' }));
    const asked = ask(client, 'm1', 'hi');
    const keys = await model.next();
    keys.type('I first consider');
    await until('it is shown', () => JSON.stringify(client.said()).includes('I first consider'));
    keys.stop();
    await asked;
    expect(client.last()).toMatchObject({ type: 'RUN_ERROR', code: 'no_solution' });
    await same(client);
  });

  test('says how a run ended: failed, cancelled', async () => {
    const failed = join('failed');
    const asked = ask(failed, 'm1', 'hi');
    (await model.next()).fail(new Error('The provider is out of words.'));
    await asked;
    expect(failed.last()).toMatchObject({
      type: 'RUN_ERROR',
      code: 'llm_stream',
      message: expect.stringContaining('out of words'),
    });
    const cancelled = join('cancelled');
    const waiting = ask(cancelled, 'm1', 'hi');
    const keys = await model.next();
    keys.type('I was ab');
    await until('it is shown', () => JSON.stringify(cancelled.said()).includes('I was ab'));
    const cancel = () =>
      handler(
        new Request(`${url}/cancel`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ threadId: 'cancelled' }),
        }),
      ).then((response) => response.json());
    expect(await cancel()).toEqual({ accepted: true });
    await waiting;
    expect(cancelled.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    expect(await cancel()).toEqual({ accepted: false });
    // who asks again how it ended gets the same answer
    const runId = (cancelled.events[0] as { runId: string }).runId;
    const later = join('cancelled');
    later.agent.addMessage(user('m1', 'hi'));
    await later.agent.runAgent({ runId });
    expect(later.last()).toMatchObject({ runId, outcome: { type: 'cancelled' } });
  });

  test('a client that leaves cancels nothing, and gets the rest when it returns', async () => {
    const client = join('left');
    const asked = ask(client, 'm1', 'hi', { runId: 'r-left' });
    const keys = await model.next();
    keys.think('A lon');
    keys.type('Half ');
    await until('it is shown', () => JSON.stringify(client.said()).includes('Half '));
    client.agent.abortRun();
    await asked;
    keys.think('g thought');
    keys.type('and half.');
    const back = client.agent.runAgent({ runId: 'r-left' });
    await until('it is there', () => JSON.stringify(client.said()).includes('Half and half.'));
    keys.stop();
    await back;
    expect(client.said().map(({ content }) => content)).toEqual(['hi', 'A long thought', 'Half and half.']);
    expect((await front.runs.list({ threadId: 'left' })).data).toHaveLength(1);
    await same(client);
  });

  test('shows the lane that the grant names', async () => {
    const client = join('lanes');
    const asked = ask(client, 'm1', 'on the active lane');
    (await model.next()).stop();
    await asked;
    const by = handlerOf({
      authorize:
        () =>
        ({ threadId }) => ({ threadId, run: { contextRef: 'aside' } }),
    });
    const aside = join('lanes', by);
    const also = ask(aside, 'm2', 'on another one');
    const keys = await model.next();
    expect(JSON.stringify(keys.call.prompt)).not.toContain('on the active lane');
    keys.type('Aside.');
    keys.stop();
    await also;
    const other = join('lanes', by);
    await other.agent.runAgent();
    expect(other.said().map(({ content }) => content)).toEqual(['on another one', 'Aside.']);
    expect(aside.said()).toEqual(other.said());
    await same(client);
  });

  test('an open response holds nothing of the request that it answers', async () => {
    let input: WeakRef<object> | undefined;
    const by = handlerOf({
      authorize:
        () =>
        ({ threadId, input: given }) => {
          input = new WeakRef(given!);
          return { threadId };
        },
    });
    const client = join('held', by);
    const asked = ask(client, 'm1', 'hi');
    const keys = await model.next();
    keys.type('So far');
    await until('it is shown', () => JSON.stringify(client.said()).includes('So far'));
    expect(input).toBeDefined();
    await until('it is collected', () => {
      collectGarbage();
      return input!.deref() === undefined;
    });
    keys.stop();
    await asked;
  });

  const refuses = async (client: Client, status: number, code: string, input: Partial<RunAgentInput> = {}) => {
    const before = client.events.length;
    const why = await client.agent.runAgent(input).then(
      () => new Error('it succeeded'),
      (error: Error & { status?: number; payload?: unknown }) => error,
    );
    expect(why.message).toContain(`"code":"${code}"`);
    expect(why).toMatchObject({ status });
    expect(client.events).toHaveLength(before);
  };

  test('refuses what does not fit the thread before the stream begins', async () => {
    const client = join('busy');
    const asked = ask(client, 'm1', 'hi', { runId: 'r1' });
    const keys = await model.next();
    const other = join('busy', handlerOf({ busy: 'reject' }));
    other.agent.addMessage(user('m2', 'me too'));
    await refuses(other, 409, 'thread_busy');
    // the run id belongs to another question
    await refuses(other, 422, 'idempotency_mismatch', { runId: 'r1' });
    keys.stop({ id: 'd', name: 'dig' }, { id: 'd', name: 'dig' });
    await asked;
    await refuses(other, 409, 'interrupts_open');
    const [first, second] = client.agent.pendingInterrupts.map(({ id }) => id) as [string, string];
    const answer = (interruptId: string, payload: unknown = { approved: true }) => ({
      interruptId,
      status: 'resolved' as const,
      payload,
    });
    const resumes: [number, string, ReturnType<typeof answer>[]][] = [
      [409, 'interrupts_open', [answer(first)]],
      [400, 'invalid_input', [answer(first), answer(first)]],
      [400, 'invalid_input', [answer(first), answer(second, 'yes')]],
      [400, 'invalid_input', [answer(first), answer(second, { approved: true, editedArgs: {} })]],
      [400, 'invalid_text', [answer(first), answer(second, { approved: true, reason: '\u0000' })]],
      [404, 'interrupt_not_found', [answer(first), answer(second), answer('nothing')]],
      [404, 'interrupt_not_found', [answer(first.replace('1.0', '1.9')), answer(first), answer(second)]],
      [404, 'interrupt_not_found', [answer('approval:run_other:1.0')]],
    ];
    for (const [status, code, resume] of resumes) await refuses(join('busy'), status, code, { resume });
    await refuses(join('busy'), 422, 'idempotency_mismatch', { runId: 'r1', resume: [answer(first), answer(second)] });
    // nothing was decided
    expect(
      (await front.runs.get({ threadId: 'busy', id: (await front.threads.peek('busy')).activeRunId! })).approvals,
    ).toHaveLength(2);
    const nobody = handlerOf({ agent: 'nobody' });
    const lost = join('lost', nobody);
    lost.agent.addMessage(user('m1', 'hi'));
    await refuses(lost, 422, 'unknown_agent');
    const blank = join('blank');
    blank.agent.addMessage(user('m1', ' '));
    await refuses(blank, 400, 'empty_content');
    expect(await front.threads.peek('blank').catch(({ code }: { code: string }) => code)).toBe('thread_not_found');
    const others = join(
      'dig',
      handlerOf({
        authorize:
          () =>
          ({ threadId }) => ({ threadId, tenantId: 'globex' }),
      }),
    );
    await others.agent.runAgent();
    expect(others.said()).toEqual([]);
    others.agent.addMessage(user('m1', 'hi'));
    await refuses(others, 404, 'thread_not_found');
    await refuses(join('dig', handlerOf({ authorize: () => null })), 403, 'forbidden');
  });
});
