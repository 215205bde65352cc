// @module-tag slow
import { agentTool, defineAgent, defineTool, waitFor, type RunRef, type TreeStreamItem } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { EventFeed } from '../../src/runs/streams/feed.ts';

import { bearer, mintKey, problem, startApi, type Api } from '../api/helpers.ts';
import { readSse } from '../support/sse.ts';
import { until } from '../support/until.ts';

const script = (...turns: unknown[]) => `scripted:${JSON.stringify(turns)}`;
const ask = (agent: string) => ({ tool: `ask_${agent}`, args: { task: 'work' } });
const waiter = defineTool({
  name: 'await_event',
  input: z.object({ event: z.string() }),
  execute: ({ event }) => waitFor(event),
});
const leaf = defineAgent({ name: 'leaf', model: 'scripted:echo' });
const middle = defineAgent({
  name: 'middle',
  model: script({ tools: [ask('leaf'), ask('leaf')] }, 'both answered'),
  tools: [agentTool(leaf)],
});
const late = defineAgent({
  name: 'late',
  model: script({ tool: 'await_event', args: { event: 'late' } }, 'came late'),
  tools: [waiter],
});
/** As many calls as a message may have. */
const many = 128;
const crowd = defineAgent({
  name: 'crowd',
  model: script({ tools: Array.from({ length: many }, () => ({ tool: 'ask_late', args: { task: 'work' } })) }, 'done'),
  tools: [agentTool(late)],
  maxChildren: many,
});
const top = defineAgent({
  name: 'top',
  model: script({ tools: [ask('middle'), ask('leaf'), { tool: 'start_late', args: { task: 'work' } }] }, 'done'),
  tools: [agentTool(middle), agentTool(leaf), agentTool(late, { name: 'start_late', wait: false })],
});

describe('the stream of a tree', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ server: { apiKey: 'root' }, agents: [top, middle, leaf, late, crowd] });
  });
  afterAll(() => api?.close());

  const start = () => api.lanefold.runs.enqueue({ agent: 'top', input: 'go' });
  const collect = async (items: AsyncIterable<TreeStreamItem>) => {
    const all: TreeStreamItem[] = [];
    for await (const item of items) all.push(item);
    return all;
  };
  const eventsOf = (items: TreeStreamItem[]) =>
    items.flatMap(({ run, item }) =>
      item.type === 'event' ? [{ run: run.id, seq: item.event.eventSeq, kind: item.event.kind }] : [],
    );
  /** All events of the runs of a tree, as their traces have them. */
  const traceOf = async (root: RunRef) => {
    const { runs } = await api.lanefold.runs.tree(root);
    const traces = await Promise.all(runs.map((run) => api.lanefold.runs.events(run, { limit: 1_000 })));
    return traces.flatMap((events) => events.map(({ runId, eventSeq }) => `${runId} ${eventSeq}`)).sort();
  };
  const keys = (events: { run: string; seq: number }[]) => events.map(({ run, seq }) => `${run} ${seq}`).sort();

  test('has every event of every run once, in the order of its run, and ends with the last of them', async () => {
    const root = await start();
    const reading = collect(api.lanefold.runs.streamTree(root));
    await api.lanefold.runs.wait(root);
    await until('only the spawned run is left', async () => {
      const { runs } = await api.lanefold.runs.tree(root);
      return (
        runs
          .filter(({ finishedAt }) => finishedAt === null)
          .map(({ agent }) => agent)
          .join() === 'late'
      );
    });
    await until('it waits', async () => (await api.lanefold.waits.list({ event: 'late' })).data.length === 1);
    await api.lanefold.events.send('late', 'now');
    const items = await reading;
    const events = eventsOf(items);
    expect(keys(events)).toEqual(await traceOf(root));
    const runs = [...new Set(events.map(({ run }) => run))];
    expect(runs).toHaveLength(6);
    for (const run of runs) {
      const own = events.filter((event) => event.run === run);
      expect(own.map(({ seq }) => seq)).toEqual(own.map(({ seq }) => seq).sort((a, b) => a - b));
      expect(own.slice(-2).map(({ kind }) => kind)).toContain('request_completed');
    }
    // a subtree has its own runs alone
    const child = (await api.lanefold.runs.tree(root)).runs.find(({ agent }) => agent === 'middle')!;
    expect(new Set(eventsOf(await collect(api.lanefold.runs.streamTree(child))).map(({ run }) => run)).size).toBe(3);

    // resumed after each of its events, it has exactly the others
    for (const [i, { cursor }] of items.entries()) {
      if (cursor === undefined) continue;
      const rest = eventsOf(await collect(api.lanefold.runs.streamTree(root, { after: cursor, deltas: false })));
      const before = eventsOf(items.slice(0, i + 1));
      expect(keys([...before, ...rest])).toEqual(keys(events));
    }
    const { over } = await api.lanefold.streams.openTree(root, { after: items.at(-1)!.cursor! });
    expect(over).toBe(true);
    const other = await start();
    await expect(api.lanefold.streams.openTree(other, { after: items[0]!.cursor! })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await api.lanefold.runs.cancel(other);
  });

  test('left early, it watches no thread any more', async () => {
    const root = await start();
    await api.lanefold.runs.wait(root);
    await until('it waits', async () => (await api.lanefold.waits.list({ event: 'late' })).data.length === 1);
    const watched = new Set<object>();
    const { watch } = EventFeed.prototype;
    const spy = vi.spyOn(EventFeed.prototype, 'watch').mockImplementation(function (this: EventFeed, ...given) {
      const { feed, release } = watch.apply(this, given);
      const stream = {};
      watched.add(stream);
      return { feed, release: () => (watched.delete(stream), release()) };
    });
    const places: ((run: RunRef, kind: string) => boolean)[] = [
      () => true,
      (run) => run.id !== root.id,
      (run, kind) => run.id !== root.id && kind === 'request_completed',
    ];
    try {
      for (const isPlace of places) {
        let left = false;
        for await (const { run, item } of api.lanefold.runs.streamTree(root)) {
          left = item.type === 'event' && isPlace(run, item.event.kind);
          if (left) break;
        }
        expect(left).toBe(true);
        await until('no thread is watched', () => watched.size === 0);
      }
      expect(spy.mock.calls.length).toBeGreaterThan(places.length);
    } finally {
      spy.mockRestore();
      await api.lanefold.events.send('late', 'now');
    }
  });

  test('over HTTP, it is resumed with as many unfinished runs as a tree has', async () => {
    const root = await api.lanefold.runs.enqueue({ agent: 'crowd', input: 'go' });
    const path = `/v1/threads/${root.threadId}/runs/${root.id}/tree/events`;
    const begun = (messages: { event?: string; data: never }[]) =>
      messages.filter(({ event, data }) => event === 'wait_started' && (data as { run_id: string }).run_id !== root.id);
    const first = await readSse(`${api.url}${path}`, bearer('root'));
    await until('all wait', () => begun(first.messages).length === many);
    first.leave();
    await first.ended.catch(() => {});
    const { id } = first.messages.findLast((message) => message.id !== undefined)!;
    const second = await readSse(`${api.url}${path}`, { ...bearer('root'), 'Last-Event-ID': id! });
    expect(second.status).toBe(200);
    await api.lanefold.events.send('late', 'now');
    await second.ended;
    const seen = [...first.messages, ...second.messages].filter((message) => message.id !== undefined);
    const keysOf = seen.map(({ data }) => {
      const { run_id: run, event_seq: seq } = data as { run_id: string; event_seq: number };
      return `${run} ${seq}`;
    });
    expect(keysOf.sort()).toEqual(await traceOf(root));
  });

  test('over HTTP: messages name their run, a reconnect continues, and a limited key has no access', async () => {
    const root = await start();
    await api.lanefold.runs.wait(root);
    await until('it waits', async () => (await api.lanefold.waits.list({ event: 'late' })).data.length === 1);
    await api.lanefold.events.send('late', 'now');
    const tree = await api.lanefold.runs.tree(root);
    for (const run of tree.runs) await api.lanefold.runs.wait(run);
    const path = `/v1/threads/${root.threadId}/runs/${root.id}/tree/events`;
    const first = await readSse(`${api.url}${path}`, bearer('root'));
    await first.ended;
    const events = first.messages.filter(({ id }) => id !== undefined);
    expect(new Set(events.map(({ data }) => (data as { run_id: string }).run_id)).size).toBe(6);
    expect(events.every(({ data }) => typeof (data as { thread_id?: string }).thread_id === 'string')).toBe(true);
    const half = events[Math.floor(events.length / 2)]!;
    const second = await readSse(`${api.url}${path}`, { ...bearer('root'), 'Last-Event-ID': half.id! });
    await second.ended;
    const later = second.messages.filter(({ id }) => id !== undefined);
    expect(later).toHaveLength(events.length - events.indexOf(half) - 1);
    const last = await fetch(`${api.url}${path}?after=${events.at(-1)!.id}`, { headers: bearer('root') });
    expect(last.status).toBe(204);
    expect(await api.call('GET', `${path}?after=nonsense`, undefined, bearer('root'))).toMatchObject(
      problem(400, 'invalid_input'),
    );
    const bound = await mintKey(api.call, bearer('root'), { scopes: ['read'], thread_prefix: root.threadId });
    expect(await api.call('GET', path, undefined, bound.auth)).toMatchObject({ status: 403 });
  });
});
