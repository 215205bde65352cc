// @module-tag long
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { LanefoldSaver } from 'lanefold/langgraph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { assistant, converse, historyOf } from './graphs.ts';

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

test('a graph has the same history as in memory', async () => {
  const memory = new MemorySaver();
  const inMemory = assistant(memory);
  const saver = new LanefoldSaver(lanefold);
  const inLog = assistant(saver);
  const threads = await converse(inMemory, 'trip');
  expect(await converse(inLog, 'trip')).toEqual(threads);
  // another process reads the same, without anything in its memory
  const reader = new LanefoldSaver(lanefold);
  for (const thread of threads) {
    const expected = await historyOf(memory, inMemory, thread);
    expect(await historyOf(saver, inLog, thread)).toEqual(expected);
    expect(await historyOf(reader, assistant(reader), thread)).toEqual(expected);
  }
});

test('the lane shows the messages of the last checkpoint', async () => {
  const saver = new LanefoldSaver(lanefold);
  const graph = assistant(saver);
  const shown = new Map<string, unknown>();
  const expected = new Map<string, unknown>();
  const put = saver.put.bind(saver);
  saver.put = async (config, checkpoint, metadata, newVersions) => {
    const stored = await put(config, checkpoint, metadata, newVersions);
    const { threadId, contextRef } = await saver.laneOf(stored);
    const rows = await lanefold.contexts.project(threadId, { contextRef });
    const id = `${contextRef} ${checkpoint.id}`;
    shown.set(
      id,
      rows.map(({ role, content, tool_call_id: call }) => [role, content, call]),
    );
    expected.set(id, closed((checkpoint.channel_values['messages'] ?? []) as BaseMessage[]));
    return stored;
  };
  await converse(graph, 'lanes');
  expect(shown.size).toBeGreaterThan(40);
  expect(shown).toEqual(expected);
});

const roles: Record<string, string> = { human: 'user', ai: 'assistant', tool: 'tool', system: 'system' };

/** Messages as rows of a context, without a tool group at the end that lacks results. */
function closed(messages: BaseMessage[]): unknown[] {
  const last = messages.findLastIndex((message) => AIMessage.isInstance(message) && message.tool_calls?.length);
  const calls = last < 0 ? 0 : (messages[last] as AIMessage).tool_calls!.length;
  const open = last >= 0 && messages.length - last - 1 < calls;
  return (open ? messages.slice(0, last) : messages).map((message) => [
    roles[message.getType()],
    message.content,
    ToolMessage.isInstance(message) ? message.tool_call_id : null,
  ]);
}
