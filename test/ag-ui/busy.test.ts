// @module-tag slow
import { clientTool, defineAgent, handoffTool } from 'lanefold';
import type { AgUiHandler, AgUiOptions } from 'lanefold/ag-ui';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { typedModel, type Keyboard, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { startTwo, type TwoProcesses } from '../support/two-processes.ts';
import { clientOf, handlerFor, noWarnings, user, type Client } from './client.ts';
import { idsOf, loggedIds } from './thread.ts';

describe('several clients of a thread', () => {
  let two: TwoProcesses;
  let model: TypedModel;
  let assertQuiet: () => void;
  beforeEach(() => void (assertQuiet = noWarnings()));
  afterEach(() => assertQuiet());
  beforeAll(async () => {
    model = typedModel();
    const where = clientTool({ name: 'where', input: z.object({}) });
    const clerk = defineAgent({ name: 'clerk', model: 'typed:m', tools: [where] });
    const agents = [defineAgent({ name: 'typist', model: 'typed:m', tools: [where, handoffTool(clerk)] }), clerk];
    two = await startTwo({ agents, models: { typed: () => model } });
  });
  afterAll(() => two?.close());

  const handlerOf = (busy?: AgUiOptions['busy']): AgUiHandler =>
    handlerFor(two.front, { agent: 'typist', ...(busy ? { busy } : {}) });
  const join = (threadId: string, busy?: AgUiOptions['busy']): Client => {
    const handler = handlerOf(busy);
    return clientOf({
      url: 'https://shop.example/ag-ui',
      threadId,
      fetch: (to, init) => handler(new Request(to, init)),
    });
  };
  const ask = ({ agent }: Client, id: string, runId = id) => {
    agent.addMessage(user(id, `Question ${id}`));
    return agent.runAgent({ runId });
  };
  const shows = (client: Client, text: string) =>
    until(`a client has ${text}`, () => JSON.stringify(client.agent.messages).includes(text));
  const answer = (keys: Keyboard, text: string) => {
    keys.type(text);
    keys.stop();
  };
  const idsHad = ({ agent }: Client) => idsOf(agent.messages);
  const logged = (threadId: string, results: Record<string, string> = {}) =>
    loggedIds(two.front, threadId, new Map(Object.entries(results)));

  test('a question interrupts the run that is active, and its clients see that', async () => {
    const first = join('interrupt');
    const asked = ask(first, 'q1');
    const keys = await model.next();
    keys.type('Once upon');
    await shows(first, 'Once upon');
    const other = join('interrupt');
    const next = ask(other, 'q2');
    const short = await model.next();
    answer(short, 'Short.');
    await Promise.all([asked, next]);
    expect(first.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    expect(other.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(idsHad(other)).toEqual(await logged('interrupt'));
    await first.agent.runAgent();
    expect(idsHad(first)).toEqual(await logged('interrupt'));
  });

  test('a question that waits is shown behind the answer before, to everybody', async () => {
    const first = join('wait', 'wait');
    const asked = ask(first, 'q1');
    const keys = await model.next();
    const second = join('wait', 'wait');
    const next = ask(second, 'q2', 'r2');
    await until('it waits', async () => (await two.front.runs.list({ threadId: 'wait' })).data.length === 2);
    // the same client twice more: by its run, and without
    const [again, loaded] = [join('wait', 'wait'), join('wait', 'wait')];
    again.agent.addMessage(user('q2', 'Question q2'));
    const followed = again.agent.runAgent({ runId: 'r2' });
    const joined = loaded.agent.runAgent();
    await Promise.all([again, loaded].map((client) => shows(client, 'Question q2')));
    answer(keys, 'One.');
    await Promise.all([asked, joined]);
    expect(idsHad(loaded).slice(0, 3)).toEqual((await logged('wait')).slice(0, 2).concat('q2'));
    answer(await model.next(), 'Two.');
    await Promise.all([next, followed]);
    const all = await logged('wait');
    expect(all).toHaveLength(4);
    for (const client of [second, again]) expect(idsHad(client)).toEqual(all);
    for (const client of [first, loaded]) {
      await client.agent.runAgent();
      expect(idsHad(client)).toEqual(all);
    }
  });

  test('a question is refused while another is answered, if the handler says so', async () => {
    const first = join('reject');
    const asked = ask(first, 'q1');
    const keys = await model.next();
    const refused = await ask(join('reject', 'reject'), 'q2').catch(({ message }: Error) => message);
    expect(refused).toContain('thread_busy');
    answer(keys, 'One.');
    await asked;
    expect(idsHad(first)).toEqual(await logged('reject'));
  });

  test('results keep the ids that each client gave, in events too', async () => {
    const first = join('results');
    const asked = ask(first, 'q1');
    (await model.next()).stop(...['a', 'b', 'c', 'd'].map((id) => ({ id, name: 'where' })));
    await asked;
    const { pendingToolCallIds } = (first.last() as unknown as { outcome: { pendingToolCallIds: string[] } }).outcome;
    const [a, b, c, d] = pendingToolCallIds as [string, string, string, string];
    const other = join('results');
    await other.agent.runAgent();
    const give = ({ agent }: Client, id: string, toolCallId: string) => {
      agent.addMessage({ id, role: 'tool', toolCallId, content: `at ${toolCallId}` });
      return agent.runAgent();
    };
    const toldOf = ({ events }: Client) =>
      events.flatMap((event) =>
        event.type === 'TOOL_CALL_RESULT' ? [(event as { messageId: string }).messageId] : [],
      );
    await give(first, 'rb', b);
    expect(first.last()).toMatchObject({ outcome: { pendingToolCallIds: [a, c, d] } });
    expect(toldOf(first)).toEqual([]);
    // one that lacks the result before gets a snapshot without its own, which is then an event
    await give(other, 'ra', a);
    expect(toldOf(other)).toEqual(['ra']);
    // this id is taken
    await give(join('results'), 'q1', d);
    const done = give(first, 'rc', c);
    answer(await model.next(), 'Everywhere.');
    await done;
    expect(toldOf(first)).toEqual(['rc']);
    const all = await logged('results', { [a]: 'ra', [b]: 'rb', [c]: 'rc' });
    expect(all.slice(2, 6)).toEqual(['ra', 'rb', 'rc', `${d}.result`]);
    for (const client of [first, other, join('results')]) {
      await client.agent.runAgent();
      expect(idsHad(client)).toEqual(all);
    }
  });

  test('results keep their ids when the run is interrupted, or handed over, or its context replaced', async () => {
    const client = join('later');
    const asked = ask(client, 'q1');
    (await model.next()).stop({ id: 'a', name: 'where' });
    await asked;
    const give = (id: string) => {
      const { outcome } = client.last() as unknown as { outcome: { pendingToolCallIds: string[] } };
      const [toolCallId] = outcome.pendingToolCallIds as [string];
      client.agent.addMessage({ id, role: 'tool', toolCallId, content: `result ${id}` });
      return toolCallId;
    };
    const a = give('ra');
    const handed = client.agent.runAgent();
    (await model.next()).stop({ id: 'h', name: 'transfer_to_clerk', args: {} });
    const clerk = await model.next();
    expect(JSON.stringify(clerk.call.prompt)).toContain('result ra');
    clerk.stop({ id: 'b', name: 'where' });
    await handed;
    const b = give('rb');
    // with the next question: the result is kept, although the run ends without an answer to it
    const next = ask(client, 'q2');
    let keys = await model.next();
    if (!JSON.stringify(keys.call.prompt).includes('Question q2')) keys = await model.next();
    expect(JSON.stringify(keys.call.prompt)).toContain('result rb');
    answer(keys, 'There.');
    await next;
    await two.front.contexts.replace('later', { entries: [] }, { reason: 'compaction' });
    const all = await logged('later', { [a]: 'ra', [b]: 'rb' });
    expect(all).toEqual(expect.arrayContaining(['q1', 'ra', 'rb', 'q2']));
    expect(idsHad(client)).toEqual(all);
    const loaded = join('later');
    await loaded.agent.runAgent();
    expect(idsHad(loaded)).toEqual(all);
  });

  test('a question that is asked again by a retry has another id', async () => {
    const client = join('retry');
    const asked = ask(client, 'q1');
    (await model.next()).fail(new Error('broken'));
    await asked.catch(() => {});
    const { data: runs } = await two.front.runs.list({ threadId: 'retry' });
    await two.front.runs.retry({ threadId: 'retry', id: runs[0]!.id });
    answer(await model.next(), 'Right.');
    await until('it has ended', async () => (await two.front.threads.peek('retry')).activeRunId === null);
    await client.agent.runAgent();
    expect(new Set(idsHad(client)).size).toBe(idsHad(client).length);
    expect(client.said().filter(({ content }) => content === 'Question q1')).toHaveLength(2);
    expect(client.said().at(-1)).toMatchObject({ content: 'Right.' });
  });
});
