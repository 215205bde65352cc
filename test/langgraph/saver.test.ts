// @module-tag slow
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import {
  emptyCheckpoint,
  INTERRUPT,
  JsonPlusSerializer,
  RESUME,
  uuid6,
  type Checkpoint,
  type CheckpointMetadata,
} from '@langchain/langgraph-checkpoint';
import type { RunnableConfig } from '@langchain/core/runnables';
import { defineAgent, isLanefoldError } from 'lanefold';
import { LanefoldSaver } from 'lanefold/langgraph';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const metadata: CheckpointMetadata = { source: 'loop', step: 1, parents: {} };
const at = (thread: string, id?: string, ns = ''): RunnableConfig => ({
  configurable: { thread_id: thread, checkpoint_ns: ns, ...(id === undefined ? {} : { checkpoint_id: id }) },
});
const checkpoint = (values: Record<string, unknown>, version = 1): Checkpoint => ({
  ...emptyCheckpoint(),
  id: uuid6(0),
  channel_values: values,
  channel_versions: Object.fromEntries(Object.keys(values).map((name) => [name, version])),
});
/** Stores a checkpoint in which every channel is new. */
const put = (saver: LanefoldSaver, config: RunnableConfig, values: Record<string, unknown>, version = 1) => {
  const next = checkpoint(values, version);
  return saver.put(config, next, metadata, next.channel_versions);
};
const valuesOf = async (saver: LanefoldSaver, config: RunnableConfig) =>
  (await saver.getTuple(config))?.checkpoint.channel_values;
async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
const entriesOf = (thread: string) => lanefold.threads.entries(thread, { limit: 1_000 });
const codeOf = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => 'it succeeded',
    (reason: unknown) => reason,
  );
  return isLanefoldError(error) ? error.code : error;
};
const rowsOf = async (thread: string, contextRef = 'langgraph') =>
  (await lanefold.contexts.project(thread, { contextRef })).map(({ role, content }) => [role, content]);

describe('values', () => {
  test('come back as they were, whatever JSON says', async () => {
    const saver = new LanefoldSaver(lanefold);
    const values = {
      bytes: new Uint8Array([0, 1, 255]),
      nested: { set: new Set([1]), map: new Map([['a', new Uint8Array([7])]]), none: undefined },
      text: 'NUL \u0000, half \ud800, and é',
      list: [{ text: '\u0000' }, { inner: [1] }],
      empty: [],
      mixed: [1, 'a', null],
      error: new Error('no'),
    };
    const config = await put(saver, at('values'), values);
    await saver.putWrites(config, Object.entries(values), 'task \u00e9');
    const tuple = await new LanefoldSaver(lanefold).getTuple(config);
    expect(tuple?.checkpoint.channel_values).toEqual(values);
    expect(Object.fromEntries(tuple!.pendingWrites!.map(([, channel, value]) => [channel, value]))).toEqual(values);
  });

  test('are stored once: what is named has no second copy', async () => {
    const saver = new LanefoldSaver(lanefold);
    const big = 'x'.repeat(10_000);
    const item = (n: number) => ({ n, text: `${n}`.repeat(2_000) });
    let config = await put(saver, at('once'), { big, items: [item(1)] });
    await saver.putWrites(config, [['items', [item(2)]]], 'task');
    config = await put(saver, config, { big, items: [item(1), item(2)] }, 2);
    config = await put(saver, config, { big, items: [item(2)] }, 3);
    const sizes = (await entriesOf('once')).map(({ payload }) => JSON.stringify(payload).length);
    expect(sizes[0]).toBeGreaterThan(12_000);
    expect(sizes[1]).toBeGreaterThan(2_000);
    expect(Math.max(...sizes.slice(2))).toBeLessThan(1_000);
    expect(await valuesOf(new LanefoldSaver(lanefold), config)).toEqual({ big, items: [item(2)] });
  });

  test('a list that grew step by step comes back from every step', async () => {
    const saver = new LanefoldSaver(lanefold);
    const items: { n: number }[] = [];
    const configs: RunnableConfig[] = [];
    for (let n = 0; n < 150; n++) {
      items.push({ n });
      configs.push(await put(saver, configs.at(-1) ?? at('long'), { items: [...items] }, n + 1));
    }
    const reader = new LanefoldSaver(lanefold);
    for (const n of [0, 1, 63, 64, 65, 66, 130, 149])
      expect(await valuesOf(reader, configs[n]!)).toEqual({ items: items.slice(0, n + 1) });
    const { rows } = await lanefold.database.pool.query<{ n: number }>(
      `select count(*)::int as n from lanefold.thread_entry where thread_id = 'long' and not payload -> 'values' -> 'items' ? 'base'`,
    );
    // the first one, and one after each chain
    expect(rows[0]!.n).toBeGreaterThan(1);
    expect(rows[0]!.n).toBeLessThan(5);
  });

  test('go through a serde of your own, and then no lane shows them', async () => {
    class Backwards extends JsonPlusSerializer {
      override async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
        const [type, bytes] = await super.dumpsTyped(value);
        return [`backwards ${type}`, bytes.toReversed()];
      }
      override loadsTyped(type: string, bytes: Uint8Array): Promise<unknown> {
        return super.loadsTyped(type.slice('backwards '.length), bytes.toReversed());
      }
    }
    const saver = new LanefoldSaver(lanefold, { serde: new Backwards() });
    const messages = [new HumanMessage({ id: 'm', content: 'A secret' })];
    const config = await put(saver, at('secret'), { messages, n: 1 });
    await saver.putWrites(config, [['n', 2]], 'task');
    const tuple = await new LanefoldSaver(lanefold, { serde: new Backwards() }).getTuple(config);
    expect(tuple).toMatchObject({
      checkpoint: { channel_values: { n: 1 } },
      metadata,
      pendingWrites: [['task', 'n', 2]],
    });
    expect((tuple!.checkpoint.channel_values['messages'] as BaseMessage[])[0]!.content).toBe('A secret');
    expect(JSON.stringify(await entriesOf('secret'))).not.toContain('secret"');
    expect(await rowsOf('secret')).toEqual([]);
    expect(await codeOf(saver.laneOf(at('secret')))).toBe('invalid_input');
  });

  test('that cannot be serialised are refused, and nothing is written', async () => {
    const saver = new LanefoldSaver(lanefold);
    for (const value of [() => 1, Symbol('s'), 10n, { deep: 10n }])
      expect(await codeOf(put(saver, at('refused'), { value }))).toBe('invalid_input');
    expect(await codeOf(saver.putWrites(at('refused', uuid6(0)), [['c', () => 1]], 't'))).toBe('invalid_input');
    expect(await codeOf(lanefold.threads.peek('refused'))).toBe('thread_not_found');
  });
});

describe('repeated calls', () => {
  test('put the same checkpoint once, and another version of it in its place', async () => {
    const saver = new LanefoldSaver(lanefold);
    const first = checkpoint({ n: 1 });
    const config = await saver.put(at('again'), first, metadata, { n: 1 });
    await saver.put(at('again'), first, metadata, { n: 1 });
    await new LanefoldSaver(lanefold).put(at('again'), first, metadata, { n: 1 });
    expect(await entriesOf('again')).toHaveLength(1);
    await saver.putWrites(config, [['n', 7]], 'task');
    await saver.put(at('again'), { ...first, channel_values: { n: 2 } }, { ...metadata, step: 9 }, { n: 1 });
    const tuple = await new LanefoldSaver(lanefold).getTuple(at('again'));
    expect(tuple).toMatchObject({
      checkpoint: { id: first.id, channel_values: { n: 2 } },
      metadata: { step: 9 },
      pendingWrites: [['task', 'n', 7]],
    });
    expect(await toArray(saver.list(at('again')))).toHaveLength(1);
    // as it was first, once more
    for (const by of [saver, saver, new LanefoldSaver(lanefold)]) await by.put(at('again'), first, metadata, { n: 1 });
    expect(await valuesOf(new LanefoldSaver(lanefold), at('again'))).toEqual({ n: 1 });
    expect(await entriesOf('again')).toHaveLength(4);
  });

  test('keep the first writes of a task, and the last interrupt and resume', async () => {
    const saver = new LanefoldSaver(lanefold);
    const config = await put(saver, at('writes'), { n: 1 });
    const other = new LanefoldSaver(lanefold);
    for (const by of [saver, other, saver])
      await by.putWrites(
        config,
        [
          ['a', 1],
          ['b', 2],
        ],
        'task-1',
        'path',
      );
    await other.putWrites(config, [['a', 'another result']], 'task-1', 'path');
    for (const value of ['x', 'y', 'y', 'x']) await other.putWrites(config, [[RESUME, value]], 'task-2', 'path');
    await saver.putWrites(config, [[INTERRUPT, { value: 'q' }]], 'task-2', 'path');
    await saver.putWrites(config, [], 'task-3');
    expect((await new LanefoldSaver(lanefold).getTuple(config))!.pendingWrites).toEqual([
      ['task-1', 'a', 1],
      ['task-1', 'b', 2],
      ['task-2', RESUME, 'x'],
      ['task-2', INTERRUPT, { value: 'q' }],
    ]);
    const kinds = (await entriesOf('writes')).map(({ kind }) => kind);
    // one for the checkpoint, two for task-1, and one for each change of task-2
    expect(kinds).toHaveLength(7);
  });

  test('of two processes at once corrupt nothing', async () => {
    const root = await put(new LanefoldSaver(lanefold), at('both'), { messages: [human(0)] });
    const savers = [new LanefoldSaver(lanefold), new LanefoldSaver(lanefold)];
    const chains = await Promise.all(
      savers.map(async (saver, who) => {
        const messages = [human(0)];
        const stored: { config: RunnableConfig; ids: string[] }[] = [];
        for (let n = 0; n < 15; n++) {
          messages.push(human(100 * (who + 1) + n));
          const config = await put(saver, stored.at(-1)?.config ?? root, { messages: [...messages] }, n + 2);
          await Promise.all(['t1', 't2'].map((task) => saver.putWrites(config, [['messages', human(n)]], task)));
          stored.push({ config, ids: messages.map(({ id }) => id!) });
        }
        return stored;
      }),
    );
    const reader = new LanefoldSaver(lanefold);
    for (const { config, ids } of chains.flat()) {
      const tuple = (await reader.getTuple(config))!;
      expect((tuple.checkpoint.channel_values['messages'] as BaseMessage[]).map(({ id }) => id)).toEqual(ids);
      expect(tuple.pendingWrites!.map(([task]) => task)).toEqual(['t1', 't2']);
    }
    const last = (await reader.getTuple(at('both')))!.checkpoint.channel_values['messages'] as BaseMessage[];
    const ends = chains.map((chain) => chain.at(-1)!.ids);
    expect(ends).toContainEqual(last.map(({ id }) => id));
    // the lane shows one of the two branches, whole
    const shown = (await rowsOf('both')).map(([, content]) => content);
    expect(ends.map((ids) => ids.map((id) => `Message ${id.slice(1)}`))).toContainEqual(shown);
  });
});

const human = (n: number) => new HumanMessage({ id: `m${n}`, content: `Message ${n}` });

describe('lanes', () => {
  test('hold a tool group back until it is closed, in the order of its calls', async () => {
    const saver = new LanefoldSaver(lanefold);
    const calls = ['c1', 'c2'].map((id) => ({ id, name: 'look', args: { id } }));
    const asked = [human(1), new AIMessage({ id: 'a', content: 'Looking.', tool_calls: calls })];
    const result = (id: string) => new ToolMessage({ id: `r${id}`, tool_call_id: id, content: `Saw ${id}` });
    let config = await put(saver, at('groups'), { messages: asked });
    expect(await rowsOf('groups')).toEqual([['user', 'Message 1']]);
    config = await put(saver, config, { messages: [...asked, result('c2')] }, 2);
    expect(await rowsOf('groups')).toHaveLength(1);
    config = await put(saver, config, { messages: [...asked, result('c2'), result('c1')] }, 3);
    const closed = [
      ['user', 'Message 1'],
      ['assistant', 'Looking.'],
      ['tool', 'Saw c1'],
      ['tool', 'Saw c2'],
    ];
    expect(await rowsOf('groups')).toEqual(closed);
    // given up: the graph continues without the results
    const again = new AIMessage({ id: 'b', content: '', tool_calls: [{ id: 'c3', name: 'look', args: {} }] });
    await put(saver, config, { messages: [...asked, result('c2'), result('c1'), again, human(2)] }, 4);
    const rows = await rowsOf('groups');
    expect(rows.slice(0, 4)).toEqual(closed);
    expect(rows.slice(4).map(([role]) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(rows[5]![1]).toContain('missing_result');
  });

  test('are where the options say', async () => {
    const saver = new LanefoldSaver(lanefold, { lane: 'default', channel: 'chat' });
    await put(saver, at('named', undefined, 'sub:1|deep:2'), { chat: [human(1)], messages: [human(2)] });
    await put(saver, at('named'), { chat: [human(1)], messages: [human(2)] });
    const lane = await saver.laneOf(at('named', undefined, 'sub:1|deep:2'));
    expect(lane).toEqual({
      threadId: 'named',
      contextRef: expect.stringMatching(/^default:sub:1\.deep:2\.\w+$/) as string,
    });
    expect(await rowsOf('named', 'default')).toEqual([['user', 'Message 1']]);
    expect(await rowsOf('named', lane.contextRef)).toEqual([['user', 'Message 1']]);
    expect((await lanefold.contexts.lanes('named')).map(({ contextRef }) => contextRef)).not.toContain('langgraph');
  });

  test('take over what a run of Lanefold left there, and wait for an active one', async () => {
    const saver = new LanefoldSaver(lanefold);
    const config = await put(saver, at('shared'), { messages: [human(1)] });
    await lanefold.threads.append('shared', [{ contextRef: 'langgraph', message: { role: 'user', content: 'Aside' } }]);
    const next = await put(saver, config, { messages: [human(1), human(2)] }, 2);
    expect(await rowsOf('shared')).toEqual([
      ['user', 'Message 1'],
      ['user', 'Message 2'],
    ]);
    // no worker takes it
    const run = { agent: 'echo', input: 'x', threadId: 'shared', contextRef: 'langgraph' };
    const active = await lanefold.runs.enqueue(run);
    const { rev } = await lanefold.threads.peek('shared');
    expect(await codeOf(put(saver, next, { messages: [human(1), human(2), human(3)] }, 3))).toBe('lane_busy');
    expect(await codeOf(put(saver, next, { messages: [human(1)] }, 3))).toBe('lane_busy');
    expect(await codeOf(saver.deleteThread('shared'))).toBe('thread_busy');
    expect((await lanefold.threads.peek('shared')).rev).toBe(rev);
    // other lanes, and checkpoints without new messages, are free
    await saver.putWrites(next, [['messages', human(3)]], 'task');
    await put(saver, at('shared', undefined, 'sub'), { messages: [human(9)] });
    await lanefold.runs.cancel(active);
    await put(saver, next, { messages: [human(1)] }, 3);
    expect(await rowsOf('shared')).toEqual([['user', 'Message 1']]);
  });
});

describe('lanes with a worker', () => {
  test('of a run that works keep its messages, and checkpoints without new ones are stored', async () => {
    const saver = new LanefoldSaver(lanefold);
    const other = new LanefoldSaver(lanefold);
    const first = await put(saver, at('worked'), { messages: [human(1)], n: 1 });
    const worker = await lanefold.startWorker();
    const run = { threadId: 'worked', contextRef: 'langgraph', agent: 'slow', input: 'Continue.' };
    const active = await lanefold.runs.enqueue(run);
    await calling;
    // the run has moved the end of the lane; neither process has seen that
    const same = { messages: [human(1)], n: 2 };
    const second = await put(saver, first, same, 2);
    const third = await put(other, second, { ...same, n: 3 }, 3);
    const started = await put(saver, at('worked'), { n: 4 });
    expect(await codeOf(put(saver, third, { messages: [human(1), human(2)], n: 4 }, 4))).toBe('lane_busy');
    answer('Done.');
    expect((await lanefold.runs.wait(active)).status).toBe('completed');
    await worker.stop();
    expect(await valuesOf(new LanefoldSaver(lanefold), third)).toMatchObject({ n: 3 });
    expect(await valuesOf(new LanefoldSaver(lanefold), started)).toEqual({ n: 4 });
    expect(await rowsOf('worked')).toEqual([
      ['user', 'Message 1'],
      ['user', 'Continue.'],
      ['assistant', 'Done.'],
    ]);
    await put(new LanefoldSaver(lanefold), third, { messages: [human(1), human(2)], n: 4 }, 4);
    expect(await rowsOf('worked')).toEqual([
      ['user', 'Message 1'],
      ['user', 'Message 2'],
    ]);
  });
});

describe('threads', () => {
  test('that are deleted may begin again, in another thread of Lanefold', async () => {
    const own = lanefold.forTenant('forgetful');
    const savers = [new LanefoldSaver(own), new LanefoldSaver(own)] as const;
    for (const [i, generation] of ['gone', 'gone@@2', 'gone@@3'].entries()) {
      const [saver, other] = i % 2 ? savers : savers.toReversed();
      await put(saver!, at('gone'), { n: i, messages: [human(i)] });
      expect(await valuesOf(other!, at('gone'))).toMatchObject({ n: i });
      expect(await saver!.laneOf(at('gone'))).toEqual({ threadId: generation, contextRef: 'langgraph' });
      expect(await rowsOf(generation)).toEqual([['user', `Message ${i}`]]);
      const listed = await toArray(other!.list({}, { filter: { step: 1 } }));
      expect(listed.map(({ config }) => config.configurable!['thread_id'])).toEqual(['gone']);
      await other!.deleteThread('gone');
      await saver!.deleteThread('gone');
      expect(await saver!.getTuple(at('gone'))).toBeUndefined();
      expect(await toArray(other!.list(at('gone')))).toEqual([]);
      expect(await codeOf(lanefold.threads.peek(generation))).toBe('thread_erased');
    }
  });

  test('are listed together, by descending id, from page to page', async () => {
    const tenant = lanefold.forTenant('lister');
    const saver = new LanefoldSaver(tenant);
    const stored: string[] = [];
    for (let n = 0; n < 6; n++) {
      const next = checkpoint({ n });
      const config = at(`listed-${n % 2}`, undefined, n % 3 === 0 ? 'sub' : '');
      await saver.put(config, next, { ...metadata, step: n }, next.channel_versions);
      stored.unshift(next.id);
    }
    const idsOf = async (config: RunnableConfig, options = {}) =>
      (await toArray(saver.list(config, options))).map((tuple) => tuple.checkpoint.id);
    expect(await idsOf({}, { limit: 6 })).toEqual(stored);
    expect(await idsOf({}, { limit: 4 })).toEqual(stored.slice(0, 4));
    expect(await idsOf({}, { limit: 2, before: at('listed-0', stored[1]) })).toEqual(stored.slice(2, 4));
    expect(await idsOf({ configurable: { checkpoint_id: stored[3] } })).toEqual([stored[3]]);
    expect(await idsOf({ configurable: { checkpoint_ns: 'sub' } })).toEqual([stored[2], stored[5]]);
    const ofRoot = stored.filter((_, i) => i !== 2 && i !== 5);
    expect(await idsOf({ configurable: { checkpoint_ns: '' } })).toEqual(ofRoot);
    expect(await idsOf(at('listed-1'))).toEqual([stored[0], stored[4]]);
    // more than a page of keys, all of the first checkpoint, which the filter leaves out
    const receipts = `insert into lanefold._append_receipt (thread_id, tenant_id, op_id, first_seq, hash)
      select 'listed-0', 'lister', 'langgraph.c.root.z' || lpad(n::text, 6, '0'), 0, 'h' from generate_series(1, 1100) n`;
    await lanefold.database.pool.query(receipts);
    const filter = { step: 1 };
    expect(await idsOf({}, { filter })).toEqual([stored[4]]);
    expect(await idsOf({ configurable: { checkpoint_ns: '' } }, { filter })).toEqual([stored[4]]);
  });

  test('of other tenants are refused, and not seen', async () => {
    const [acme, umbrella] = ['acme', 'umbrella'].map((tenant) => new LanefoldSaver(lanefold.forTenant(tenant)));
    const config = await put(acme!, at('tenant-thread'), { n: 1 });
    expect(await umbrella!.getTuple(config)).toBeUndefined();
    expect(await toArray(umbrella!.list({}))).toEqual([]);
    expect(await codeOf(put(umbrella!, at('tenant-thread'), { n: 2 }))).toBe('thread_exists');
    expect(await codeOf(umbrella!.putWrites(config, [['n', 2]], 't'))).toBe('thread_exists');
    await umbrella!.deleteThread('tenant-thread');
    expect(await valuesOf(acme!, config)).toEqual({ n: 1 });
  });

  test('ids, checkpoints and options that are not valid are refused', async () => {
    const saver = new LanefoldSaver(lanefold);
    for (const id of ['', 'a b', 'x'.repeat(121), 'a@@2', '__proto__', 7 as unknown as string])
      expect(await codeOf(put(saver, at(id), { n: 1 })), id).toBe('invalid_id');
    const next = { ...checkpoint({ n: 1 }), id: 'no spaces' };
    expect(await codeOf(saver.put(at('ids'), next, metadata, { n: 1 }))).toBe('invalid_id');
    expect(await codeOf(saver.getTuple(at('ids', 'no spaces')))).toBe('invalid_id');
    expect(await saver.getTuple(at('ids', uuid6(0)))).toBeUndefined();
    expect(await codeOf(saver.put({}, checkpoint({}), metadata, {}))).toBe('invalid_input');
    expect(await codeOf(saver.putWrites(at('ids'), [['n', 1]], 't'))).toBe('invalid_id');
    expect(await codeOf(put(saver, at('ids', undefined, 'a\u0000'), { n: 1 }))).toBe('invalid_text');
    expect(await codeOf(put(saver, at('ids'), { 'a\u0000': 1 }))).toBe('invalid_text');
    const make = (options: object) => codeOf((async () => new LanefoldSaver(lanefold, options))());
    expect(await make({ lanes: 'x' })).toBe('invalid_input');
    expect(await make({ lane: 'a b' })).toBe('invalid_id');
    expect(await make({ lane: 'x'.repeat(65) })).toBe('invalid_id');
    expect(await codeOf((async () => new LanefoldSaver({} as TestLanefold))())).toBe('invalid_input');
    expect(await codeOf(lanefold.threads.peek('ids'))).toBe('thread_not_found');
  });

  test('that another program wrote to are refused where an entry cannot be read', async () => {
    const saver = new LanefoldSaver(lanefold);
    const stored = await put(saver, at('damaged'), { messages: [human(1)], n: 1 });
    const id = String(stored.configurable!['checkpoint_id']);
    const [{ payload }] = (await entriesOf('damaged')) as unknown as [{ payload: Record<string, unknown> }];
    const write = { checkpoint: id, task: 't', writes: [[0, 'n', { value: '0' }]], parts: ['1'] };
    const damages = [
      { checkpoint: '{' },
      { checkpoint: 7 },
      { metadata: 7 },
      { values: { n: 99 } },
      { values: { n: -1 } },
      { values: { n: { value: 'x' } } },
      { values: { n: { list: '0', base: 0 } } },
      { parts: [1] },
      { parts: [] },
      { values: { n: { list: '0', base: 99, keep: 1 } } },
    ].map((damage) => ['langgraph_checkpoint', { ...payload, ...damage }] as const);
    const writes = [{ task: 7 }, { writes: [7] }, { writes: [[0, 'n', { value: '5' }]] }].map(
      (damage) => ['langgraph_writes', { ...write, ...damage }] as const,
    );
    for (const [i, [kind, forged]] of [...damages, ...writes].entries()) {
      const thread = `damaged-${i}`;
      await lanefold.threads.create({ id: thread });
      const add = (entry: unknown, key: string) =>
        lanefold.database.pool.query('select lanefold.append_entries($1, $2, $3)', [
          thread,
          JSON.stringify([entry]),
          { op_id: key, op_hash: 'h' },
        ]);
      const isWrite = kind === 'langgraph_writes';
      await add({ kind: 'langgraph_checkpoint', payload: isWrite ? payload : forged }, `langgraph.c.root.${id}`);
      if (isWrite) await add({ kind, payload: forged }, `langgraph.w.root.${id}.x`);
      expect(await codeOf(new LanefoldSaver(lanefold).getTuple(at(thread))), JSON.stringify(forged)).toBe(
        'history_unreadable',
      );
    }
  });

  test('keep their chain intact', async () => {
    await lanefold.tenants.configure('sealed', { chained: true });
    const saver = new LanefoldSaver(lanefold.forTenant('sealed'));
    const config = await put(saver, at('sealed-thread'), { messages: [human(1)] });
    await put(saver, config, { messages: [human(2)] }, 2);
    const { rows } = await lanefold.database.pool.query("select * from lanefold.verify_thread('sealed-thread')");
    expect(rows).toEqual([]);
  });
});
