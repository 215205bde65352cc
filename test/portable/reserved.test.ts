// @module-tag slow
import { HumanMessage, AIMessage } from '@langchain/core/messages';
import { emptyCheckpoint, uuid6, type Checkpoint, type CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import type { RunnableConfig } from '@langchain/core/runnables';
import { LanefoldSaver } from 'lanefold/langgraph';
import { LanefoldSession } from 'lanefold/openai-agents';
import { serialize } from 'node:v8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendEntries } from '../../src/database/store/log/append-entries.ts';
import { databaseOf } from '../../src/features/library/internals.ts';
import { refused } from '../db/helpers.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { lineWriter } from './rehash.ts';
import { linesOf } from './support.ts';

let lanefold: TestLanefold;
let saver: LanefoldSaver;
let graph: string[];
let session: string[];
const metadata: CheckpointMetadata = { source: 'loop', step: 1, parents: {} };
const at = (thread: string, id?: string): RunnableConfig => ({
  configurable: { thread_id: thread, checkpoint_ns: '', ...(id === undefined ? {} : { checkpoint_id: id }) },
});
const long = 'A message that is long enough to be named rather than written again. ';
const messages = (count: number) =>
  Array.from({ length: count }, (_, i) => (i % 2 ? new AIMessage(`${long}${i}`) : new HumanMessage(`${long}${i}`)));
const bytes = {
  role: 'user' as const,
  content: 'see',
  providerData: { bytes: new Uint8Array([1, 2]), none: undefined },
};

beforeAll(async () => {
  lanefold = await startLanefold();
  saver = new LanefoldSaver(lanefold);
  let config = at('graph');
  for (let step = 1; step <= 4; step++) {
    const values = { messages: messages(step * 3), step, topic: `${long}${step % 2}` };
    const versions = Object.fromEntries(Object.keys(values).map((name) => [name, step]));
    const next: Checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(step),
      channel_values: values,
      channel_versions: versions,
    };
    config = await saver.put(config, next, metadata, versions);
    await saver.putWrites(config, [['messages', messages(step)]], `task-${step}`);
  }
  const own = new LanefoldSession(lanefold, { sessionId: 'session' });
  await own.addItems([{ role: 'user', content: 'one' }, bytes, { role: 'user', content: 'three' }]);
  await own.popItem();
  [graph, session] = [await linesOf(lanefold.threads, 'graph'), await linesOf(lanefold.threads, 'session')];
});
afterAll(() => lanefold?.close());

const importAs = (id: string, lines: string[]) => lanefold.threads.import({ format: 'lanefold', lines }, { id });
const tuplesOf = async (thread: string) => {
  const all = [];
  for await (const { checkpoint, pendingWrites } of saver.list(at(thread))) all.push([checkpoint, pendingWrites]);
  return JSON.parse(JSON.stringify(all)) as unknown;
};
type Payload = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- forged at any depth
let made = 0;
/** Imports a thread after a change to the payload of its last entry of a kind, and expects a refusal of that line. */
async function refusesAfter(lines: string[], kind: string, change: (payload: Payload, entry: Payload) => void) {
  const last = lines.map((line) => JSON.parse(line) as Payload).findLast((entry) => entry['kind'] === kind)!['line'];
  let at = 0;
  const forged = lineWriter(lines, (fields) => {
    at += 1;
    if (at === last) change(fields['payload'] as Payload, fields);
    return fields;
  });
  const error = await importAs(`forged-${++made}`, forged).then(
    () => undefined,
    (reason: { code?: string; details?: { line?: number } }) => reason,
  );
  expect(error).toMatchObject({ code: 'import_refused', details: { line: last } });
}

test('histories of LangGraph and of the OpenAI Agents SDK come along, and continue', async () => {
  await importAs('graph-2', graph);
  expect(await tuplesOf('graph-2')).toEqual(await tuplesOf('graph'));
  const tuple = await saver.getTuple(at('graph-2'));
  const next = { ...emptyCheckpoint(), id: uuid6(9), channel_values: { step: 9 }, channel_versions: { step: 9 } };
  await saver.put(tuple!.config, next, metadata, { step: 9 });
  expect((await saver.getTuple(at('graph-2')))!.checkpoint.channel_values).toEqual({ step: 9 });

  await importAs('session-2', session);
  const copy = new LanefoldSession(lanefold, { sessionId: 'session-2' });
  expect(await copy.getItems()).toEqual([{ role: 'user', content: 'one' }, bytes]);
  await copy.addItems([{ role: 'user', content: 'four' }]);
  expect(await copy.getItems()).toHaveLength(3);
});

describe('an import is refused whose history', () => {
  const ofLast = (payload: Payload) => payload['values'].messages as Payload;
  test.each<[string, (payload: Payload, entry: Payload) => void]>([
    ['names four thousand million texts', (p) => (ofLast(p)['list'] = '0-4000000000')],
    ['names a text endlessly', (p) => (ofLast(p)['list'] = '0-999999999999999')],
    ['names one text often', (p) => (ofLast(p)['list'] = '0 '.repeat(100_001).trim())],
    ['has a range that goes backwards', (p) => (ofLast(p)['list'] = '2-1')],
    ['names parts of a later entry', (p) => (ofLast(p)['list'] = '99.0')],
    ['names parts of an entry without any', (p) => (ofLast(p)['list'] = '1.0')],
    ['continues itself', (p, { seq }) => Object.assign(ofLast(p), { list: '0', base: seq as number, keep: 1 })],
    ['keeps more than there is', (p) => (ofLast(p)['keep'] = 4_000_000_000)],
    ['continues a value that is no list', (p) => (p['values'] = { topic: { list: '0', base: 0, keep: 1 } })],
    ['names the value of an entry that has none', (p) => (p['values'].messages = 999)],
    ['is of no known kind', (_, entry) => (entry['kind'] = 'langgraph_other')],
    ['has no key', (_, entry) => delete entry['append_key']],
    ['has the key of another framework', (_, entry) => (entry['append_key'] = 'openai_agents.x')],
    ['has the key of another checkpoint', (p) => (p['id'] = 'other')],
    ['ends its lane nowhere', (p) => (p['lane'] = 'never')],
    ['has no JSON', (p) => (p['checkpoint'] = '{')],
    ['has metadata that are no JSON', (p) => (p['metadata'] = '{')],
    ['has metadata that are nested endlessly', (p) => (p['metadata'] = '['.repeat(100_000) + ']'.repeat(100_000))],
    ['has a text that is no JSON', (p) => (p['parts'] = (p['parts'] as string[]).map(() => 'told'))],
  ])('%s', (_, change) => refusesAfter(graph, 'langgraph_checkpoint', change));

  test.each<[string, (payload: Payload, entry: Payload) => void]>([
    ['writes four thousand million texts', (p) => (p['writes'][0][2] = { list: '0-4000000000' })],
    ['writes what continues something', (p) => (p['writes'][0][2] = { list: '0', base: 0, keep: 1 })],
    ['writes to another checkpoint than its key says', (p) => (p['checkpoint'] = 'other')],
  ])('%s', (_, change) => refusesAfter(graph, 'langgraph_writes', change));

  const sparse: unknown[] = [];
  sparse.length = 4_000_000_000;
  test.each<[string, (payload: Payload) => void]>([
    ['drops more items than there are', (p) => (p['drop'] = 4)],
    [
      'has an item with an endless list',
      (p) => (p['items'] = [`v8:${serialize({ content: sparse }).toString('base64')}`]),
    ],
    ['has an item that is no JSON', (p) => (p['items'] = ['{'])],
  ])('%s', (_, change) => refusesAfter(session, 'openai_agents_items', change));

  test('has a key that is reserved on an entry of another kind', async () => {
    await lanefold.threads.create({ id: 'plain' });
    await lanefold.threads.append('plain', [{ kind: 'note', payload: {} }], { opId: 'mine' });
    const lines = await linesOf(lanefold.threads, 'plain');
    await refusesAfter(lines, 'note', (_, entry) => (entry['append_key'] = 'langgraph.c.root.x'));
    await refusesAfter(lines, 'note', (_, entry) => (entry['refs'] = { dropped: { length: 4_000_000_000 } }));
    await refusesAfter(lines, 'note', (_, entry) => (entry['refs'] = { dropped_positions: [[0, 1, 2, 3]] }));
  });
});

describe('readers stop at a history that another program wrote', () => {
  const db = () => databaseOf(lanefold, 'test');
  const checkpointOf = (values: object, id: string, more: object = {}) => ({
    kind: 'langgraph_checkpoint',
    context_ref: 'default',
    payload: {
      id,
      checkpoint: JSON.stringify({ ...emptyCheckpoint(), id }),
      metadata,
      values,
      parts: [`"${'x'.repeat(3_000)}"`, '{'],
      ...more,
    },
  });
  const write = async (threadId: string, drafts: { payload: { id: string } }[]) => {
    await lanefold.threads.create({ id: threadId });
    for (const draft of drafts)
      await appendEntries(db(), threadId, {
        drafts: [draft as never],
        idempotencyKey: `langgraph.c.root.${draft.payload.id}`,
        hash: 'h',
        expectedRev: undefined,
      });
  };

  test.each<[string, object]>([
    ['a range', { messages: { list: '0-4000000000' } }],
    ['many channels', Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`c${i}`, { list: '0-99999' }]))],
    ['a text that is no JSON', { messages: { value: '1' } }],
    ['one text named often', { messages: { list: '0 '.repeat(99_999).trim() } }],
    ['a list that keeps what is not there', { messages: { list: '0', base: 0, keep: 4_000_000_000 } }],
  ])('%s', async (name, values) => {
    const thread = `written-${name.replaceAll(' ', '-')}`;
    await write(thread, [checkpointOf({ messages: { list: '0' } }, 'a'), checkpointOf(values, 'b')]);
    await refused(saver.getTuple(at(thread, 'b')), 'history_unreadable');
  });

  test('a checkpoint that is its own ancestor', async () => {
    await write('circle', [checkpointOf({}, 'a', { parent: 'b' }), checkpointOf({}, 'b', { parent: 'a' })]);
    const history = saver.getDeltaChannelHistory({ config: at('circle', 'b'), channels: ['never'] });
    await refused(Promise.resolve(history), 'history_unreadable');
  });

  test('and nothing is written that they would not read', async () => {
    const list = Array.from({ length: 100_001 }, () => ({ x: 1 }));
    const next = { ...emptyCheckpoint(), id: uuid6(1), channel_values: { list }, channel_versions: { list: 1 } };
    await refused(saver.put(at('long'), next, metadata, { list: 1 }), 'invalid_input');
    const holes: unknown[] = [];
    holes.length = 20_000;
    const item = { role: 'user', content: 'x', providerData: { holes } } as never;
    await refused(new LanefoldSession(lanefold, { sessionId: 'holes' }).addItems([item]), 'invalid_input');
  });
});
