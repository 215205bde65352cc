import type { RunHandle, StreamItem, StreamOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../support/log.ts';

import { startPair, type Pair } from '../support/two-processes.ts';
import { readStream } from '../support/read-stream.ts';
import { until } from '../support/until.ts';

describe('a stream', () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair?.close());

  const start = () => pair.front.runs.enqueue({ agent: 'typist', input: 'hi' });
  const follow = (run: RunHandle, options?: StreamOptions) => readStream(pair.front.runs.stream(run, options));
  const stored = async (run: RunHandle, runId?: string) => {
    const events = await eventsOf(pair.front, run.threadId, runId);
    return events.map((event) => event.event_seq);
  };

  test('of a run delivers every event once and the answer as it is generated, and ends after the last event', async () => {
    const run = await start();
    const reader = follow(run);
    const keys = await pair.model.next();
    await reader.has('llm_started');
    keys.think('Hm, ');
    await until('the thinking arrives', () => reader.answer('thinking') === 'Hm, ');
    keys.think('hello.');
    keys.type('Hel');
    await until('the first delta arrives', () => reader.answer() === 'Hel');
    expect(reader.kinds()).not.toContain('llm_completed');
    keys.type('lo 🙂 there');
    await until('the rest arrives', () => reader.answer() === 'Hello 🙂 there');
    keys.stop();
    await reader.ended;
    expect(reader.answer('thinking')).toBe('Hm, hello.');
    expect(reader.answer()).toBe('Hello 🙂 there');
    expect(reader.seqs()).toEqual(await stored(run));
    // the worker may learn of the reader after the first words, which then come as a snapshot
    expect(reader.kinds().filter((kind) => kind === 'llm_snapshot').length).toBeLessThanOrEqual(1);
    expect(reader.kinds().slice(-2)).toEqual(['request_completed', 'checkpoint']);
  });

  test('joined mid-answer starts with a snapshot, with or without other readers, and when resumed', async () => {
    const run = await start();
    const keys = await pair.model.next();
    keys.type('One, ');
    keys.type('two, ');
    const first = follow(run);
    await until('the first has the text so far', () => first.answer() === 'One, two, ');
    keys.type('three, ');
    await until('the first has the next delta', () => first.answer() === 'One, two, three, ');
    const second = follow(run);
    await until('the second has all of it', () => second.answer() === 'One, two, three, ');
    const after = (await stored(run)).at(-1)!;
    const third = follow(run, { after });
    await until('the resumed stream has all of it', () => third.answer() === 'One, two, three, ');
    keys.type('four.');
    keys.stop();
    for (const reader of [first, second, third]) {
      await reader.ended;
      expect(reader.kinds().filter((kind) => kind === 'llm_snapshot')).toHaveLength(1);
      expect(reader.answer()).toBe('One, two, three, four.');
    }
    expect(third.seqs()).toEqual((await stored(run)).filter((seq) => seq > after));
  });

  test('resumed after any event has no gaps or repeats, for the thread and for each of its runs', async () => {
    const first = await start();
    const keys = await pair.model.next();
    keys.stop({ id: 'c1', name: 'look', args: { at: 'the sea' } }, { id: 'c2', name: 'look', args: { at: 'nothing' } });
    (await pair.model.next()).stop();
    await pair.front.runs.wait(first);
    const second = await pair.front.runs.enqueue({ agent: 'echo', input: 'again', threadId: first.threadId });
    await pair.front.runs.wait(second);
    const all = await stored(first);
    expect(all).toEqual(all.map((_, i) => i));
    for (const run of [first, second]) {
      const own = await stored(first, run.id);
      for (const after of [-1, ...all]) {
        const reader = follow(run, { after, deltas: after % 2 === 0 });
        await reader.ended;
        expect(reader.seqs()).toEqual(own.filter((seq) => seq > after));
      }
    }
    const readers = [-1, ...all].map((after) => {
      const stop = new AbortController();
      const stream = pair.front.threads.stream(first.threadId, { after, signal: stop.signal });
      return { after, stop, reader: readStream(stream) };
    });
    const third = await pair.front.runs.enqueue({ agent: 'echo', input: 'and again', threadId: first.threadId });
    await pair.front.runs.wait(third);
    const more = await stored(first);
    expect(more.length).toBeGreaterThan(all.length);
    for (const { after, reader } of readers) {
      await until('all events arrive', () => reader.seqs().at(-1) === more.at(-1));
      expect(reader.seqs()).toEqual(more.filter((seq) => seq > after));
    }
    for (const { stop, reader } of readers) {
      stop.abort();
      await expect(reader.ended).rejects.toBe(stop.signal.reason);
    }
  });

  test('opened after the run delivers the answer as a snapshot, and entries on request', async () => {
    const run = await start();
    const keys = await pair.model.next();
    keys.type('Done.');
    keys.stop();
    await pair.front.runs.wait(run);
    const reader = follow(run, { entries: true });
    await reader.ended;
    expect(reader.kinds().slice(1, 4)).toEqual(['llm_started', 'llm_snapshot', 'llm_completed']);
    expect(reader.items.at(3)).toMatchObject({ entry: { role: 'assistant', content: 'Done.' } });
    const dry = follow(run, { deltas: false });
    await dry.ended;
    expect(dry.kinds()).not.toContain('llm_snapshot');
    expect(dry.items.every((item) => !('entry' in item))).toBe(true);
  });

  test('keeps the text of a failed model call separate from that of its retry', async () => {
    const run = await start();
    const reader = follow(run);
    const broken = await pair.model.next();
    broken.type('Half an ans');
    await until('the first half arrives', () => reader.answer() === 'Half an ans');
    broken.fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    const keys = await pair.model.next();
    keys.type('A whole answer.');
    keys.stop();
    await reader.ended;
    expect(reader.kinds()).toContain('llm_retry');
    expect(reader.answer('text', `${run.id}.1`)).toBe('Half an ans');
    expect(reader.answer('text', `${run.id}.2`)).toBe('A whole answer.');
  });

  test('does not cancel the run when its reader leaves or aborts', async () => {
    const run = await start();
    const keys = await pair.model.next();
    for await (const item of pair.front.runs.stream(run)) if (item.type === 'event') break;
    const stop = new AbortController();
    const reader = follow(run, { signal: stop.signal });
    await reader.has('llm_started');
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(reader.ended).rejects.toBe(reason);
    const before = pair.front.runs.stream(run, { signal: stop.signal })[Symbol.asyncIterator]();
    await expect(before.next()).rejects.toBe(reason);
    const tree = pair.front.runs.streamTree(run, { signal: stop.signal })[Symbol.asyncIterator]();
    await expect(tree.next()).rejects.toBe(reason);
    keys.type('Still here.');
    keys.stop();
    expect(await pair.front.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Still here.' });
  });

  test('of an unknown run, an unknown thread or an erased thread is rejected', async () => {
    const run = await start();
    (await pair.model.next()).stop();
    const first = (stream: AsyncIterable<StreamItem>) => stream[Symbol.asyncIterator]().next();
    const { runs, threads } = pair.front;
    await expect(first(runs.stream({ threadId: run.threadId, id: 'other' }))).rejects.toMatchObject({
      code: 'run_not_found',
    });
    await expect(first(threads.stream('nowhere'))).rejects.toMatchObject({ code: 'thread_not_found' });
    await expect(first(threads.stream('no where'))).rejects.toMatchObject({ code: 'invalid_id' });
    await runs.wait(run);
    const reader = readStream(threads.stream(run.threadId));
    await reader.has('request_completed');
    await threads.erase(run.threadId);
    await reader.ended;
    await expect(first(threads.stream(run.threadId))).rejects.toMatchObject({ code: 'thread_erased' });
  });
});
