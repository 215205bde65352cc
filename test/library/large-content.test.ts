// @module-tag slow
import { defineAgent, defineTool, isLanefoldError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refused } from '../db/helpers.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

import { onCitus } from '../support/services.ts';
import { until } from '../support/until.ts';

const limit = 4_096;
/** A text of 20,000 characters in which no two lines are the same. */
const long = (name: string) =>
  Array.from({ length: 1_000 }, (_, i) => `${name} ${String(i)}\n`.padStart(20, '.')).join('');
const report = defineTool({
  name: 'report',
  description: 'A long report.',
  input: z.object({ name: z.string() }),
  execute: ({ name }) => long(name),
});
const agents = [
  defineAgent({ name: 'a', model: unset, tools: [report] }),
  defineAgent({ name: 'guarded', model: unset, tools: [report], guardTool: () => undefined }),
  defineAgent({ name: 'asking', model: unset, tools: [{ ...report, needsApproval: true }] }),
  defineAgent({ name: 'mixed', model: unset, tools: [report] }),
];

describe('large texts', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime(agents, { largeContentBytes: limit });
  });
  afterAll(() => lanefold?.close());

  const stored = async (threadId: string) => {
    const { rows } = await lanefold.database.pool.query<{ id: string; home: string | null; text: string | null }>(
      'select id, home_thread_id as home, text from lanefold.content where thread_id = $1 order by created_at, id',
      [threadId],
    );
    return rows;
  };
  const newThread = async () => (await lanefold.threads.create()).id;
  const saying = (...messages: string[]) =>
    messages.map((content) => ({ message: { role: 'user' as const, content } }));
  /** The messages that quote a text, with the whole of it. */
  async function quoted(threadId: string): Promise<string[]> {
    const found: string[] = [];
    for (const { role, content, refs } of await lanefold.contexts.project(threadId)) {
      const { contents = [] } = (refs ?? {}) as { contents?: { id: string; chars: number; bytes: number }[] };
      for (const { id, chars, bytes } of contents) {
        expect(JSON.stringify(content).length).toBeLessThan(limit);
        const { text } = await lanefold.threads.readContent(threadId, id);
        expect([chars, bytes]).toEqual([text.length, text.length]);
        found.push(`${role}: ${text.slice(0, 19).replaceAll('.', '')}`);
      }
    }
    return found;
  }

  test('every way in keeps them out of the log, each once: requests, appends, contexts, steering, results of tools', async () => {
    const threadId = await newThread();
    await lanefold.threads.append(threadId, [
      ...saying(long('b')),
      { message: { role: 'user', content: [{ type: 'text', text: long('c') }] } },
      { message: { role: 'assistant', content: long('answered') } },
      { kind: 'note', payload: { content: long('own') } },
    ]);
    const model = lanefold.model(async (_, n) => {
      if (n === 1) await lanefold.runs.steer(threadId, long('steered'));
      return n === 2
        ? { text: 'done' }
        : {
            calls: [
              { name: 'report', args: { name: n === 0 ? 'r' : 'b' } },
              { name: 'report', args: { name: 's' } },
            ],
          };
    });
    const { run } = await lanefold.run({ agent: 'a', threadId, model: model.id, input: long('a') });
    expect(run).toMatchObject({ status: 'completed', result: 'done' });
    expect(await quoted(threadId)).toEqual([
      'user: b 0',
      'user: c 0',
      'user: a 0',
      'tool: r 0',
      'tool: s 0',
      'tool: b 0',
      'tool: s 0',
      'user: steered 0',
    ]);
    expect(await stored(threadId)).toHaveLength(6);
    const entries = await lanefold.threads.entries(threadId);
    expect(entries.find(({ kind }) => kind === 'note')!.payload).toEqual({ content: long('own') });
    expect(JSON.stringify(entries.filter(({ kind }) => kind === 'ai_message')).length).toBeLessThan(
      8 * limit + long('answered').length,
    );
    const calls = entries.flatMap(({ refs }) => (refs['llm_call_id'] as string | undefined) ?? []);
    expect(calls).toHaveLength(3);
    for (const call of calls) expect(await lanefold.contexts.call(threadId, call)).toMatchObject({ verified: true });

    await lanefold.contexts.replace(threadId, {
      entries: [
        { role: 'user', content: long('a') },
        { role: 'user', content: long('z') },
      ],
    });
    expect(await quoted(threadId)).toEqual(['user: a 0', 'user: z 0']);
    expect(await stored(threadId)).toHaveLength(7);
  });

  test.each([
    ['guarded', [{ name: 'r' }], ['tool: r 0']],
    ['asking', [{ name: 'r' }], ['tool: r 0']],
    // the arguments of the first call are refused, so that the other one starts in a step of its own
    ['mixed', [{ name: 7 }, { name: 'r' }], ['tool: r 0']],
  ])('a result is kept whole, whatever was decided before its call: %s', async (agent, args, results) => {
    const threadId = await newThread();
    const calls = args.map((each) => ({ name: 'report', args: each }));
    const model = lanefold.model((_, n) => (n === 0 ? { calls } : { text: 'done' }));
    const asked = await lanefold.runs.enqueue({ agent, threadId, model: model.id, input: 'Report.' });
    if (agent === 'asking') {
      await until('its call waits', async () => (await lanefold.runs.get(asked)).status === 'suspended');
      await lanefold.runs.approve(asked, '1.0');
    }
    expect(await lanefold.runs.wait(asked)).toMatchObject({ status: 'completed' });
    expect(await quoted(threadId)).toEqual(results);
  });

  test('the model reads on, through a tool that no list of a request leaves out', async () => {
    const text = long('q');
    const parts: string[] = [];
    const model = lanefold.model(({ prompt, tools }) => {
      expect(tools?.map(({ name }) => name)).toEqual(['read_content']);
      const last = prompt.at(-1)!;
      if (last.role !== 'tool') {
        const [, id, offset] = /read_content\(\{"id":"(\w+)","offset":(\d+)\}\)/.exec(
          JSON.stringify(last.content).replaceAll('\\', ''),
        )!;
        parts.push(text.slice(0, Number(offset)));
        return { calls: [{ name: 'read_content', args: { id, offset: Number(offset) } }] };
      }
      const { output } = last.content[0] as unknown as {
        output: { value: { text: string; next_offset?: number } | string };
      };
      const value =
        typeof output.value === 'string'
          ? (JSON.parse(output.value) as { text: string; next_offset?: number })
          : output.value;
      parts.push(value.text);
      const id = /"id":"(c_\w+)"/.exec(JSON.stringify(prompt).replaceAll('\\', ''))![1];
      return value.next_offset === undefined
        ? { text: 'read' }
        : { calls: [{ name: 'read_content', args: { id, offset: value.next_offset } }] };
    });
    const { run, threadId } = await lanefold.run({
      agent: 'a',
      model: model.id,
      input: text,
      allowedTools: [],
      maxIterations: 50,
    });
    expect(run).toMatchObject({ status: 'completed', result: 'read' });
    expect(parts.join('')).toBe(text);
    expect(await stored(threadId)).toHaveLength(1);
  });

  test('a range is counted in characters; what is not there has its own error', async () => {
    const threadId = await newThread();
    await lanefold.threads.append(threadId, saying(`😀é${'x'.repeat(5_000)}漢`));
    const { id } = (await stored(threadId))[0]!;
    const read = (range?: { offset?: number; length?: number }) => lanefold.threads.readContent(threadId, id, range);
    expect(await read({ length: 3 })).toMatchObject({
      text: '😀éx',
      offset: 0,
      chars: 5_003,
      bytes: 5_009,
      nextOffset: 3,
    });
    expect(await read({ offset: 5_001 })).toMatchObject({ text: 'x漢', nextOffset: null });
    expect(await read({ offset: 9_999 })).toMatchObject({ text: '', nextOffset: null });
    await refused(read({ offset: -1 }), 'invalid_input');
    await refused(read({ length: 0 }), 'invalid_input');
    await refused(lanefold.threads.readContent(threadId, 'c_none'), 'content_not_found');
    await refused(lanefold.threads.readContent('nowhere', id), 'thread_not_found');
    const model = lanefold.model((_, n) =>
      n === 0 ? { calls: [{ name: 'read_content', args: { id: 'c_none' } }] } : { text: 'sorry' },
    );
    await lanefold.run({ agent: 'a', threadId, model: model.id, input: 'x' });
    const context = await lanefold.contexts.project(threadId);
    expect(context.at(-2)!.content).toMatch(/content_not_found.*"retryable":false/);
  });

  test('what writes nothing stores nothing; the same append or request again is the same one', async () => {
    const threadId = await newThread();
    const append = (text: string, expectedRev?: number) =>
      lanefold.threads.append(threadId, saying(text), {
        opId: 'k',
        ...(expectedRev === undefined ? {} : { expectedRev }),
      });
    await refused(append(long('never'), 7), 'rev_conflict');
    await refused(lanefold.threads.append(threadId, [{ ...saying('x')[0]!, refs: { contents: [] } }]), 'invalid_input');
    expect(await stored(threadId)).toEqual([]);
    const first = await append(long('once'));
    expect(await append(long('once'))).toEqual({ ...first, duplicate: true });
    await refused(append(long('other')), 'idempotency_mismatch');
    expect(await stored(threadId)).toHaveLength(1);
    const ask = () => lanefold.runs.enqueue({ agent: 'a', threadId, input: long('asked'), requestId: `r-${threadId}` });
    const run = await ask();
    expect(await ask()).toMatchObject({ id: run.id, duplicate: true });
    await lanefold.runs.wait(run);
    expect(await stored(threadId)).toHaveLength(2);
  });

  test('forks share the texts they quote; erasing the parent leaves them to its forks, erasing all leaves none', async () => {
    const parent = await newThread();
    await lanefold.threads.append(parent, saying(long('old')));
    await lanefold.contexts.replace(parent, { entries: [{ role: 'user', content: long('kept') }] });
    const { id: child } = await lanefold.threads.fork(parent);
    const { id: grandchild } = await lanefold.threads.fork(child);
    const own = { home: null, text: long('kept') };
    for (const fork of [child, grandchild]) {
      // on Citus the parent may be on another node
      expect(await stored(fork)).toMatchObject([onCitus ? own : { home: parent, text: null }]);
      expect(await quoted(fork)).toEqual(['user: kept 0']);
    }
    await lanefold.threads.append(child, saying(long('kept')));
    expect(await stored(child)).toHaveLength(1);

    expect((await lanefold.threads.erase(parent)).removed).toMatchObject({ contents: 2 });
    for (const fork of [child, grandchild]) {
      expect(await stored(fork)).toMatchObject([own]);
      expect((await quoted(fork)).length).toBeGreaterThan(0);
    }
    for (const fork of [child, grandchild]) await lanefold.threads.erase(fork);
    const { rows } = await lanefold.database.pool.query('select from lanefold.content where thread_id = any ($1)', [
      [parent, child, grandchild],
    ]);
    expect(rows).toEqual([]);
  });

  test('a message that quotes a text keeps doing so; one that quotes what the thread does not have is refused', async () => {
    const [one, other] = [await newThread(), await newThread()];
    await lanefold.threads.append(one, saying(long('quoted')));
    const quoting = async () =>
      (await lanefold.contexts.project(one)) as unknown as { role: 'user'; content: string }[];
    const entries = (await quoting()).map(({ content, ...row }) => ({ ...row, content: content.padEnd(9_000, '.') }));
    await lanefold.contexts.replace(one, { entries });
    expect(await lanefold.contexts.project(one)).toMatchObject([{ content: entries[0]!.content }]);
    expect((await stored(one)).length).toBe(1);
    await refused(lanefold.contexts.replace(other, { entries: await quoting() }), 'invalid_input');
    expect(await lanefold.contexts.project(other)).toEqual([]);

    const parts = [
      { type: 'text' as const, text: entries[0]!.content },
      { type: 'text' as const, text: long('new') },
    ];
    await lanefold.contexts.replace(one, { entries: [{ ...entries[0]!, content: parts }] });
    const [{ refs }] = (await lanefold.contexts.project(one)) as unknown as [{ refs: { contents: unknown[] } }];
    expect(refs.contents).toHaveLength(2);
  });

  test('a rerun and a retry quote the text of the question they repeat', async () => {
    const { threadId, id } = await lanefold.run({ agent: 'a', input: long('asked') });
    const again = await lanefold.runs.rerun({ threadId, id });
    await lanefold.runs.wait(again);
    expect(await quoted(again.threadId)).toEqual(['user: asked 0']);
    await lanefold.runs.wait(await lanefold.runs.retry({ threadId, id }));
    expect(await quoted(threadId)).toEqual(['user: asked 0', 'user: asked 0']);
    expect(await stored(threadId)).toHaveLength(1);
  });

  test('a compaction, which has no text, is accepted: by hand, and at a share of the budget', async () => {
    const { id: model } = lanefold.model((call) => ({
      text: JSON.stringify(call.prompt).includes('Summarise the conversation') ? 'They talked.' : 'word '.repeat(100),
    }));
    const { threadId } = await lanefold.run({ agent: 'a', model, input: 'q0' });
    await lanefold.run({ agent: 'a', model, input: 'q1', threadId });
    const run = await lanefold.contexts.compact(threadId, { keepTurns: 1 });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: { cause: 'request' } });
    const policy = { maxInputTokens: 600, reserveOutputTokens: 0, keepLastTurns: 1, compactAt: 0.3 };
    await lanefold.run({ agent: 'a', model, input: 'q2', threadId, contextPolicy: policy });
    await until('the end of a run has asked for another one', async () => {
      const { data } = await lanefold.runs.list({ threadId });
      return data.filter(({ strategy, status }) => strategy === 'compaction' && status === 'completed').length === 2;
    });
  });

  test('the chain of a thread covers them', async () => {
    await lanefold.tenants.configure('sealed', { chained: true });
    const { id } = await lanefold.threads.create({ tenantId: 'sealed' });
    await lanefold.threads.append(id, saying('before', long('whole')));
    await lanefold.contexts.replace(id, { entries: [{ role: 'user', content: long('in an anchor') }] });
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    const change = (sql: string) => lanefold.database.pool.query(`${sql} where thread_id = $1`, [id]);
    await change("update lanefold.content set text = text || '!'");
    const both = [{ threadId: id, seq: 1, upto: 2, problem: 'content_altered' }];
    expect(await lanefold.evidence.verify(id)).toEqual(both);
    await change('update lanefold.content set text = left(text, -1)');
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    // which readers take for the end of the text
    await change('update lanefold.content set chars = chars - 1');
    expect(await lanefold.evidence.verify(id)).toEqual(both);
    await change('delete from lanefold.content');
    expect(await lanefold.evidence.verify(id)).toEqual(both);
  });

  test('in the caller’s transaction a text lands with its request or not at all', async () => {
    const client = await lanefold.database.pool.connect();
    try {
      for (const end of ['rollback', 'commit']) {
        await client.query('begin');
        const { threadId } = await lanefold.runs.enqueue({ agent: 'a', input: long('tx') }, { tx: client });
        await client.query(end);
        expect((await stored(threadId)).length).toBe(end === 'commit' ? 1 : 0);
      }
    } finally {
      client.release();
    }
  });

  test('an agent with a tool of that name is refused, and so is a size that is none', async () => {
    const open = (more: object) => startRuntime(agents, more).then((opened) => opened.close());
    const taken = defineAgent({ name: 'b', model: unset, tools: [{ ...report, name: 'read_content' }] });
    await expect(startRuntime([taken], { largeContentBytes: limit })).rejects.toSatisfy((error) =>
      isLanefoldError(error, 'invalid_tool'),
    );
    for (const largeContentBytes of [4_095, 2 ** 27 + 1, 5_000.5])
      await refused(open({ largeContentBytes }), 'invalid_input');
  });
});
