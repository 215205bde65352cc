// @module-tag long
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { MessagesAnnotation, StateGraph, type BaseCheckpointSaver } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { LanefoldSaver } from 'lanefold/langgraph';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { openPool } from '../support/pool.ts';

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

/** English prose, 60 to 700 characters a message. */
const prose = [
  'README.md',
  'docs/start/concepts.md',
  'docs/run/guarantees.md',
  'docs/run/operating.md',
  'docs/build/runs.md',
  'docs/start/agents-and-tools.md',
]
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const textOf = (n: number) => prose.slice((n * 397) % (prose.length - 700)).slice(0, 60 + ((n * 211) % 640));

/** A conversation that grows by a message with each step. */
async function converse(checkpointer: BaseCheckpointSaver, steps: number): Promise<void> {
  const say = (messages: BaseMessage[]) => {
    const n = messages.length;
    const content = textOf(n);
    if (n % 2 === 0) return new HumanMessage({ id: `message-${n}`, content });
    const usage_metadata = { input_tokens: 10 * n, output_tokens: 50, total_tokens: 10 * n + 50 };
    return new AIMessage({ id: `message-${n}`, content, usage_metadata, response_metadata: { model: 'some-model' } });
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('say', ({ messages }) => ({ messages: [say(messages)] }))
    .addEdge('__start__', 'say')
    .addConditionalEdges('say', ({ messages }) => (messages.length < steps ? 'say' : '__end__'))
    .compile({ checkpointer });
  const config = { configurable: { thread_id: `growing-${steps}` }, recursionLimit: 2 * steps };
  const { messages } = await graph.invoke({ messages: [] }, config);
  expect(messages).toHaveLength(steps);
  const { values } = await graph.getState(config);
  expect((values as { messages: BaseMessage[] }).messages.map(({ content }) => content)).toEqual(
    messages.map(({ content }) => content),
  );
}

/** Of the tables of a schema, with all their indexes and TOAST. */
async function bytesOf(schema: string): Promise<number> {
  const { rows } = await lanefold.database.pool.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
     where relnamespace = $1::regnamespace and relkind in ('r', 'p')`,
    [schema],
  );
  return rows[0]!.bytes;
}

/** How much more PostgresSaver takes. */
async function ratioAt(steps: number): Promise<number> {
  const peer = new PostgresSaver(openPool({ connectionString: lanefold.database.url }), undefined, { schema: 'peer' });
  await peer.setup();
  const taken = async (schema: string, checkpointer: BaseCheckpointSaver) => {
    const before = await bytesOf(schema);
    await converse(checkpointer, steps);
    return (await bytesOf(schema)) - before;
  };
  try {
    const ours = await taken('lanefold', new LanefoldSaver(lanefold));
    const theirs = await taken('peer', peer);
    const mb = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
    console.log(
      `${steps} steps: LanefoldSaver ${mb(ours)}, PostgresSaver ${mb(theirs)}, 1 : ${(theirs / ours).toFixed(1)}`,
    );
    return theirs / ours;
  } finally {
    await peer.end();
  }
}

test('a conversation takes a part of what PostgresSaver takes, which keeps each text again', async () => {
  expect(await ratioAt(150)).toBeGreaterThan(2.5);
});
test('a conversation of 500 steps takes at most a tenth', { tags: 'long' }, async () => {
  expect(await ratioAt(500)).toBeGreaterThan(10);
});
