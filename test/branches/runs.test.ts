// @module-tag slow
import { agentTool, defineAgent, defineTool, handOff } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { fakeModel, type FakeModel, type FakeScript } from '../support/fake-model.ts';
import { assertInvariants } from '../db/invariants.ts';
import { until } from '../support/until.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

let looked = 0;
const look = defineTool({ name: 'look', input: z.object({}), execute: () => `looked ${++looked}` });
const pay = defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' });
const agents = [
  defineAgent({ name: 'desk', model: 'fake:desk', instructions: 'Be kind.', tools: [look, pay, agentTool('helper')] }),
  defineAgent({ name: 'helper', model: 'scripted:echo' }),
  defineAgent({ name: 'sender', model: 'fake:desk', onEnd: handOff('taker', { ask: 'Check it.' }) }),
  defineAgent({ name: 'taker', model: 'fake:desk' }),
  defineAgent({ name: 'thinker', model: 'fake:desk', strategy: 'cot' }),
];

let lanefold: Runtime;
let script: FakeScript;
let model: FakeModel;
beforeAll(async () => {
  model = fakeModel((call, n) => (typeof script === 'function' ? script(call, n) : script.shift()!));
  lanefold = await startRuntime(agents, { models: { fake: () => model } });
});
afterAll(async () => {
  await assertInvariants({
    query: async (_name: string, text: string) => (await lanefold.database.pool.query(text)).rows,
  } as never);
  await lanefold?.close();
});
beforeEach(() => {
  model.calls.length = 0;
});

/** The texts that a call was sent. */
const sent = (n: number): string[] =>
  model.calls
    .at(n)!
    .prompt.map(({ content }) =>
      typeof content === 'string'
        ? content
        : content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '),
    );

const messages = async (threadId: string) => (await lanefold.threads.tree(threadId, { limit: 1_000 })).data;
const places = async (threadId: string) =>
  (await messages(threadId)).map(({ role, place, siblings }) => `${role} ${place}/${siblings}`);
const said = async (threadId: string, contextRef?: string) =>
  (await lanefold.contexts.project(threadId, contextRef === undefined ? {} : { contextRef })).map((row) => row.content);
const shown = async (threadId: string, options = {}) =>
  (await lanefold.threads.uiMessages(threadId, options)).data.map(({ parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join(),
  );

describe('a conversation that branches', () => {
  test('a question is edited, an answer is given again, and each branch goes its own way', async () => {
    script = [
      { calls: [{ name: 'look' }] },
      { text: 'first' },
      { text: 'second' },
      { text: 'zweite' },
      { text: 'second, again' },
      { text: 'third' },
    ];
    const before = looked;
    const { threadId } = await lanefold.run({ agent: 'desk', input: 'one' });
    await lanefold.run({ agent: 'desk', input: 'two', threadId });
    const [answer, two] = (await messages(threadId)).slice(3);

    const edited = await lanefold.threads.branch(threadId, { afterSeq: answer!.seq, agent: 'desk', input: 'zwei' });
    expect(await lanefold.runs.wait(edited.run!)).toMatchObject({ status: 'completed', contextRef: 'default@2' });
    expect(sent(3)).toEqual(['Be kind.', 'one', 'tool-call', 'tool-result', 'first', 'zwei']);

    const again = await lanefold.threads.branch(threadId, { afterSeq: two!.seq, agent: 'desk' });
    const run = await lanefold.runs.wait(again.run!);
    expect(sent(4)).toEqual(['Be kind.', 'one', 'tool-call', 'tool-result', 'first', 'two']);
    expect(run).toMatchObject({ status: 'completed', contextRef: 'default@3' });
    expect((await lanefold.runs.list({ threadId })).data[0]).toMatchObject({ question: 'two' });

    await lanefold.run({ agent: 'desk', input: 'three', threadId });
    expect(sent(5)).toEqual([...sent(4), 'second, again', 'three']);
    // tools of the shared part have not run again
    expect(looked - before).toBe(1);
    expect(await places(threadId)).toEqual([
      'user 1/1',
      'assistant 1/1',
      'tool 1/1',
      'assistant 1/1',
      'user 1/2',
      'assistant 1/2',
      'user 2/2',
      'assistant 1/1',
      'assistant 2/2',
      'user 1/1',
      'assistant 1/1',
    ]);

    // as chats show it: the whole conversation of each branch, page by page
    expect(await shown(threadId)).toEqual(['one', 'first', 'two', 'second, again', 'three', 'third']);
    expect(await shown(threadId, { contextRef: 'default@2' })).toEqual(['one', 'first', 'zwei', 'zweite']);
    expect(await shown(threadId, { contextRef: 'default' })).toEqual(['one', 'first', 'two', 'second']);
    const pages: string[][] = [];
    for (let after: string | null = ''; after !== null;) {
      const page: Awaited<ReturnType<typeof lanefold.threads.uiMessages>> = await lanefold.threads.uiMessages(
        threadId,
        {
          limit: 1,
          ...(after === '' ? {} : { after }),
        },
      );
      pages.unshift(page.data.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : []))));
      after = page.nextAfter;
    }
    expect(pages.filter((page) => page.length > 0)).toEqual([
      ['one', 'first'],
      ['two', 'second, again'],
      ['three', 'third'],
    ]);
    const { messages: snapshot } = await lanefold.threads.agUiSnapshot(threadId);
    expect(snapshot.filter(({ role }) => role === 'user').map((message) => message.content)).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  test('what was sent to each call can be proved, and a run of a branch can be repeated', async () => {
    script = [{ text: 'first' }, { text: 'other' }, { text: 'on a fork' }, { text: 'once more' }];
    const { threadId } = await lanefold.run({ agent: 'desk', input: 'one' });
    const { run } = await lanefold.threads.branch(threadId, {
      afterSeq: (await messages(threadId))[0]!.seq,
      agent: 'desk',
    });
    await lanefold.runs.wait(run!);
    const call = await lanefold.contexts.call(threadId, `${run!.id}.1`);
    expect(call).toMatchObject({ verified: true });
    const forked = await lanefold.runs.rerun(run!);
    expect(await lanefold.runs.wait(forked)).toMatchObject({ status: 'completed' });
    expect(await said(forked.threadId)).toEqual(['Be kind.', 'one', 'on a fork']);
    const retried = await lanefold.runs.retry(run!);
    expect(await lanefold.runs.wait(retried)).toMatchObject({ status: 'completed', contextRef: 'default@2' });
    expect(await said(threadId)).toEqual(['Be kind.', 'one', 'other', 'one', 'once more']);
  });

  test('a strategy gets the question that it answers again', async () => {
    script = [{ text: 'THOUGHT\nFINAL ANSWER: first' }, { text: 'FINAL ANSWER: other' }];
    const { threadId } = await lanefold.run({ agent: 'thinker', input: 'how many?' });
    const { run } = await lanefold.threads.branch(threadId, {
      afterSeq: (await messages(threadId))[0]!.seq,
      agent: 'thinker',
    });
    expect(await lanefold.runs.wait(run!)).toMatchObject({ status: 'completed' });
    expect(sent(1)).toContain('how many?');
    expect(sent(1)).toEqual(sent(0));
  });

  test('approvals, steering, sub-agents and handoffs stay on their branch', async () => {
    script = [
      { text: 'first' },
      { calls: [{ name: 'pay' }, { name: 'helper', args: { input: 'help' } }] },
      { text: 'paid for it' },
      { text: 'a draft' },
      { text: 'checked' },
    ];
    const { threadId } = await lanefold.run({ agent: 'desk', input: 'one' });
    const [question] = await messages(threadId);
    const edited = await lanefold.threads.branch(threadId, { afterSeq: -1, agent: 'desk', input: 'buy it' });
    const run = edited.run!;
    await until('it waits', async () => (await lanefold.runs.get(run)).status === 'suspended');
    await lanefold.runs.steer(run, 'the cheap one');
    const next = await lanefold.threads.branch(threadId, {
      afterSeq: question!.seq,
      agent: 'sender',
      busy: 'wait',
    });
    expect(next).toMatchObject({ shown: false, run: { status: 'waiting' } });
    await lanefold.runs.approve(run, '1.0');
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    const ofEdited = await said(threadId, edited.contextRef);
    expect(ofEdited[1]).toBe('buy it');
    expect(ofEdited).toContain('the cheap one');
    expect(ofEdited.at(-1)).toBe('paid for it');

    expect(await lanefold.runs.wait(next.run!)).toMatchObject({ status: 'completed', agent: 'taker' });
    expect((await said(threadId, next.contextRef)).slice(-4)).toEqual(['one', 'a draft', 'Check it.', 'checked']);
    expect(await said(threadId, 'default')).toEqual(['Be kind.', 'one', 'first']);
    expect((await lanefold.threads.get(threadId)).activeContextRef).toBe(next.contextRef);
  });

  test('a run of a branch waits for limits', async () => {
    script = [{ text: 'first' }, { text: 'other' }];
    const { threadId } = await lanefold.run({ agent: 'desk', input: 'one' });
    await lanefold.limits.set('slots', { kind: 'concurrency', amount: 0, scope: { agent: 'desk' } });
    const { run } = await lanefold.threads.branch(threadId, {
      afterSeq: (await messages(threadId))[0]!.seq,
      agent: 'desk',
    });
    await until('it waits for its slot', async () => (await lanefold.runs.get(run!)).limitedBy !== null);
    await lanefold.limits.remove('slots');
    expect(await lanefold.runs.wait(run!)).toMatchObject({ status: 'completed' });
    expect(await said(threadId)).toEqual(['Be kind.', 'one', 'other']);
  });

  test('a mistake is refused before anything is written', async () => {
    script = [{ text: 'first' }];
    const { threadId } = await lanefold.run({ agent: 'desk', input: 'one' });
    const { rev } = await lanefold.threads.get(threadId);
    const refused = (options: object) => expect(lanefold.threads.branch(threadId, options as never)).rejects;
    await refused({ afterSeq: rev - 1, agent: 'desk' }).toMatchObject({ code: 'invalid_input' });
    await refused({ afterSeq: 1, agent: 'nobody', input: 'x' }).toMatchObject({ code: 'unknown_agent' });
    await refused({ afterSeq: 1, agent: 'desk', input: ' ' }).toMatchObject({ code: 'empty_content' });
    await refused({ afterSeq: 1, input: 'x' }).toMatchObject({ code: 'invalid_input' });
    await refused({ afterSeq: 1, agnet: 'desk' }).toMatchObject({ code: 'invalid_input' });
    expect((await lanefold.threads.get(threadId)).rev).toBe(rev);
  });

  test('reads a question that is answered again once, and one that is edited not at all', async () => {
    script = [{ text: 'first' }, { text: 'other' }, { text: 'zweite' }];
    const { threadId, run } = await lanefold.run({ agent: 'desk', input: 'one' });
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    const reads: unknown[] = [];
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      if ((args[0] as { name?: string }).name === 'read_question') reads.push(args[0]);
      return query.apply(this, args) as never;
    });
    try {
      const branch = { agent: 'desk', messageId: run.requestId };
      await lanefold.runs.wait((await lanefold.threads.branch(threadId, branch)).run!);
      expect(reads).toHaveLength(1);
      await lanefold.runs.wait((await lanefold.threads.branch(threadId, { ...branch, input: 'eins' })).run!);
      expect(reads).toHaveLength(1);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('repeated, a request returns its branch and its run', async () => {
    script = [{ text: 'first' }, { text: 'zweite' }];
    const { threadId } = await lanefold.run({ agent: 'desk', input: 'one' });
    const options = { afterSeq: -1, agent: 'desk', input: 'eins', opId: 'edit' };
    const [first, second] = await Promise.all([
      lanefold.threads.branch(threadId, options),
      lanefold.threads.branch(threadId, options),
    ]);
    expect([first.run!.id, first.contextRef]).toEqual([second.run!.id, second.contextRef]);
    expect([first.duplicate, second.duplicate].sort()).toEqual([false, true]);
    await expect(lanefold.threads.branch(threadId, { ...options, input: 'zwei' })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
    await lanefold.runs.wait(first.run!);
    expect(await lanefold.threads.branches(threadId)).toHaveLength(2);
  });
});
