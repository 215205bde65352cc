// @module-tag slow
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { LanefoldSaver } from 'lanefold/langgraph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refused } from '../db/helpers.ts';
import { assistant } from '../langgraph/graphs.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { openPool } from '../support/pool.ts';

let lanefold: TestLanefold;
let saver: PostgresSaver;
let reader: PostgresSaver;
beforeAll(async () => {
  lanefold = await startLanefold();
  saver = new PostgresSaver(openPool({ connectionString: lanefold.database.url }), undefined, { schema: 'lg' });
  await saver.setup();
  // what reads cannot write
  const pool = openPool({ connectionString: lanefold.database.url, options: '-c default_transaction_read_only=on' });
  reader = new PostgresSaver(pool, undefined, { schema: 'lg' });
});
afterAll(async () => {
  await saver?.end();
  await reader?.end();
  await lanefold?.close();
});

const shown = async (id: string, contextRef = 'default') =>
  (await lanefold.contexts.project(id, { contextRef })).map(({ role, content, tool_calls, tool_call_id, name }) => {
    return { role, content, tool_calls, tool_call_id, name };
  });
const source = (threadId: string) => ({ format: 'langgraph' as const, checkpointer: reader, threadId });

test('a thread of PostgresSaver shows what the same graph shows with LanefoldSaver', async () => {
  const config = { configurable: { thread_id: 'trip' } };
  for (const checkpointer of [saver, new LanefoldSaver(lanefold)]) {
    const graph = assistant(checkpointer);
    await graph.invoke({ messages: [new HumanMessage('Weather? Please confirm.')] }, config);
    await graph.invoke(new Command({ resume: 'yes' }), config);
    await graph.invoke({ messages: [new HumanMessage('And tomorrow?')] }, config);
  }
  const { id, rev, notes } = await lanefold.threads.import(source('trip'), { id: 'imported' });
  const messages = await shown(id);
  expect(messages.length).toBeGreaterThan(6);
  expect(messages).toEqual(await shown('trip', 'langgraph'));
  expect(notes.filter(({ outcome }) => outcome === 'left_out').map(({ where }) => where)).toEqual(
    expect.arrayContaining(['channel bytes', 'channel seen']),
  );
  const [last] = await lanefold.threads.entries(id, { kind: 'thread_import' });
  expect(last).toMatchObject({
    seq: rev - 1,
    payload: { format: 'langgraph', source_id: 'trip', checkpoint_id: expect.any(String) },
  });
  expect(await lanefold.threads.import(source('trip'), { id })).toMatchObject({ duplicate: true });
});

test('a copy of a thread that LanefoldSaver keeps continues as a graph', async () => {
  const saverOf = new LanefoldSaver(lanefold);
  const lines: string[] = [];
  for await (const line of lanefold.threads.export('trip')) lines.push(line);
  await lanefold.threads.import({ format: 'lanefold', lines }, { id: 'trip-2' });
  const state = async (id: string) =>
    (await assistant(saverOf).getState({ configurable: { thread_id: id } })).values as unknown;
  expect(await state('trip-2')).toEqual(await state('trip'));
});

test('an open tool group at the end is closed, and a block that only its provider reads is listed', async () => {
  const answer = new AIMessage({
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: 'I look.' },
    ],
    tool_calls: [
      { id: 'c1', name: 'look', args: { at: 1 } },
      { id: 'c2', name: 'look', args: { at: 2 } },
    ],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({ messages: [answer, new ToolMessage({ tool_call_id: 'c2', content: 'seen' })] }))
    .addEdge(START, 'model')
    .compile({ checkpointer: saver });
  await graph.invoke({ messages: [new HumanMessage('Look.')] }, { configurable: { thread_id: 'open' } });
  const { id, notes } = await lanefold.threads.import(source('open'));
  expect(id).toBe('open');
  expect(await shown(id)).toMatchObject([
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'c1', arguments: { at: 1 } }, { id: 'c2' }] },
    { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('missing_result') },
    { role: 'tool', tool_call_id: 'c2', content: 'seen' },
  ]);
  expect(notes.map(({ outcome, where }) => [outcome, where])).toEqual([
    ['left_out', 'messages[1].content[0]'],
    ['repaired', 'tool call c1'],
    ['left_out', 'messages[].id'],
  ]);
  await refused(lanefold.threads.import(source('nowhere')), 'invalid_input');
  await refused(lanefold.threads.import({ ...source('open'), channel: 'other' }), 'invalid_input');
});
