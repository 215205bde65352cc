// @module-tag slow
import { defineAgent, defineTool, waitFor } from 'lanefold';
import { createClient, type Client } from 'lanefold/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startApi, type Api } from '../api/helpers.ts';

const refund = defineTool({
  name: 'refund',
  input: z.object({ order_id: z.string() }),
  needsApproval: true,
  execute: ({ order_id }) => ({ order_id, refundedCents: 4900 }),
});
const pay = defineTool({ name: 'pay', input: z.object({}), execute: () => waitFor('paid-1') });
const slow = 'scripted:["done"]?latency_ms=600000';
// every agent has to allow what a thread sets
const http = { http: ['toolContext', 'systemPrompt'] as const };
const agents = [
  defineAgent({ name: 'echo', model: 'scripted:echo', overridable: http }),
  defineAgent({
    name: 'refunder',
    model: `scripted:${JSON.stringify([{ tools: [{ tool: 'refund', args: { order_id: 'A-17' } }] }, 'Refunded.'])}`,
    tools: [refund],
    overridable: http,
  }),
  defineAgent({
    name: 'payer',
    model: `scripted:${JSON.stringify([{ tools: [{ tool: 'pay', args: {} }] }, 'Paid.'])}`,
    tools: [pay],
    overridable: http,
  }),
  defineAgent({ name: 'slow', model: slow, overridable: http }),
  defineAgent({
    name: 'triage',
    model: `scripted:${JSON.stringify(['{"is_urgent": true, "dueDate": "today"}'])}`,
    output: { schema: z.object({ is_urgent: z.boolean(), dueDate: z.string() }) },
    overridable: http,
  }),
];

let api: Api;
let client: Client<typeof agents>;
beforeAll(async () => {
  api = await startApi({ agents, tokenSecrets: ['s'] });
  client = createClient<typeof agents>({ url: api.url });
});
afterAll(() => api?.close());

const until = async <T>(what: () => Promise<T>, expected: T) =>
  expect.poll(what, { timeout: 60_000 }).toEqual(expected);

test('a thread without events is followed from its beginning, as a page follows it', async () => {
  await client.threads.create({ id: 'young' });
  const { eventRev } = await client.threads.get('young');
  const stop = new AbortController();
  const following = (async () => {
    for await (const item of client.threads.stream('young', { after: eventRev - 1, signal: stop.signal }))
      if (item.type === 'event') return item.event.eventSeq;
  })();
  await client.runs.enqueue({ agent: 'echo', input: 'Hello', threadId: 'young' });
  expect([eventRev, await following]).toEqual([0, 0]);
  stop.abort();
});

describe('runs', () => {
  test('are started, awaited, read, listed and asked again', async () => {
    const run = await client.runs.enqueue({ agent: 'echo', input: 'Hello', threadId: 'r-1', createThread: true });
    const ended = await client.runs.wait(run);
    expect(ended).toMatchObject({
      id: run.id,
      threadId: 'r-1',
      status: 'completed',
      terminationReason: 'final_answer',
    });
    expect(ended.result).toContain('Hello');
    // counters are data, as in the library
    expect(ended.usage!.input_tokens).toBeGreaterThan(0);
    expect(await client.runs.get(run)).toEqual(ended);
    const again = await client.runs.retry(run);
    expect((await client.runs.wait(again)).retryOf).toBe(run.id);
    const forked = await client.runs.rerun(run);
    await client.runs.wait(forked);
    expect((await client.threads.get(forked.threadId)).parentThreadId).toBe('r-1');
    const listed = await client.runs.list({ threadId: 'r-1', limit: 1 });
    expect(listed).toMatchObject({ data: [{ id: again.id }], nextAfter: expect.any(String) });
    expect((await client.runs.list({ threadId: 'r-1', after: listed.nextAfter! })).data).toMatchObject([
      { id: run.id },
    ]);
    expect((await client.runs.list({ agent: 'echo', status: 'completed' })).data.length).toBeGreaterThan(2);
    const { data } = await client.runs.events(run);
    expect(data.find(({ kind }) => kind === 'request_completed')).toMatchObject({ runId: run.id });
    expect((await client.runs.tree(run)).runs).toMatchObject([{ id: run.id, depth: 0 }]);
    expect(await client.runs.nodes(run)).toEqual({ data: [], nextAfter: null });
  });

  test('without a thread get a new one; the same request is the same run', async () => {
    const one = await client.runs.enqueue({ agent: 'echo', input: 'x', requestId: 'same' });
    const two = await client.runs.enqueue({ agent: 'echo', input: 'x', requestId: 'same' });
    expect(two).toMatchObject({ id: one.id, threadId: one.threadId, duplicate: true });
    const other = await client.runs.enqueue({ agent: 'echo', input: 'x' });
    expect(other.threadId).not.toBe(one.threadId);
  });

  test('start in a batch, each with its own outcome', async () => {
    const settled = await client.runs.enqueueMany([
      { agent: 'echo', input: 'one' },
      { agent: 'echo', input: ' ' },
    ]);
    expect(settled).toMatchObject([
      { status: 'fulfilled', value: { status: expect.any(String) } },
      { status: 'rejected', reason: { name: 'LanefoldClientError', code: 'empty_content' } },
    ]);
  });

  test('are steered, and cancelled', async () => {
    const run = await client.runs.enqueue({ agent: 'slow', input: 'x' });
    await until(async () => (await client.runs.get(run)).status, 'running');
    expect(await client.runs.steer(run, 'Be brief.', { by: 'ada' })).toMatchObject({ status: 'queued' });
    const twice = { inputId: 'in-1', extraRefs: { fromPage: true } };
    await client.runs.inject(run, [{ type: 'text', text: 'It rains.' }], twice);
    expect(await client.runs.inject(run, [{ type: 'text', text: 'It rains.' }], twice)).toMatchObject({
      duplicate: true,
    });
    expect((await client.runs.inputs(run)).data).toMatchObject([
      { kind: 'steer', by: 'ada' },
      { kind: 'inject', content: [{ type: 'text', text: 'It rains.' }] },
    ]);
    expect(await client.runs.cancel(run, { reason: 'enough' })).toMatchObject({ accepted: true });
    expect((await client.runs.wait(run)).status).toBe('cancelled');
    expect(await client.runs.cancel(run)).toMatchObject({ accepted: false });
  });

  test('wait for approval, and continue once it is given or denied', async () => {
    for (const word of ['approve', 'deny'] as const) {
      const run = await client.runs.enqueue({ agent: 'refunder', input: 'Refund A-17' });
      await until(async () => (await client.runs.get(run)).approvals.length, 1);
      const [call] = (await client.runs.get(run)).approvals;
      expect(call).toMatchObject({ name: 'refund', arguments: { order_id: 'A-17' } });
      expect((await client.approvals.list()).data).toMatchObject([{ runId: run.id, call: '1.0' }]);
      const decided = await client.runs[word](run, call!.call, { by: 'ada' });
      expect(decided).toMatchObject({ decision: word === 'deny' ? 'denied' : 'approved', by: 'ada', duplicate: false });
      const { toolCalls } = await client.runs.wait(run);
      expect(toolCalls).toMatchObject([{ name: 'refund', status: word === 'deny' ? 'denied' : 'ok' }]);
      if (word === 'approve')
        expect(JSON.parse(toolCalls[0]!.result as string)).toEqual({ order_id: 'A-17', refundedCents: 4900 });
    }
  });

  test('wait for events, and are resolved', async () => {
    const run = await client.runs.enqueue({ agent: 'payer', input: 'Pay' });
    await until(async () => (await client.waits.list()).data.length, 1);
    expect((await client.waits.list({ kind: 'event' })).data).toMatchObject([{ runId: run.id, event: 'paid-1' }]);
    const sent = await client.events.send('paid-1', { amount_cents: 4200, byCard: true });
    expect(sent.resolved).toEqual([{ threadId: run.threadId, runId: run.id, call: '1.0', round: 1, index: 0 }]);
    const { toolCalls, result } = await client.runs.wait(run);
    expect(result).toBe('Paid.');
    expect(JSON.parse(toolCalls[0]!.result as string)).toEqual({ amount_cents: 4200, byCard: true });
    const other = await client.runs.enqueue({ agent: 'payer', input: 'Pay' });
    await until(async () => (await client.runs.get(other)).waits.length, 1);
    const resolved = await client.waits.resolve(other, '1.0', { result: { cash_paid: 1 } });
    expect(resolved).toMatchObject({ resolved: true, wait: 'overridden' });
    expect((await client.runs.wait(other)).toolCalls[0]!.result).toBe('{"cash_paid":1}');
  });

  test('have checkpoints', async () => {
    const run = await client.runs.enqueue({ agent: 'echo', input: 'x' });
    await client.runs.wait(run);
    const { token, step } = await client.runs.checkpoint(run, { expiresInMs: 60_000 });
    expect(step).toBeGreaterThan(0);
    expect(await client.runs.collect(token)).toMatchObject({ id: run.id, status: 'completed' });
    expect(await client.runs.resume(token)).toMatchObject({ id: run.id });
    const next = await client.runs.resume(token, { query: 'and then?' });
    expect((await client.runs.wait(next)).resumedFrom).toBe(run.id);
    expect(await client.runs.cancel(token)).toMatchObject({ accepted: false });
  });

  test('have the result of their contract', async () => {
    const run = await client.runs.enqueue({ agent: 'triage', input: 'x' });
    const { result } = await client.runs.wait(run);
    expect(result).toEqual({ is_urgent: true, dueDate: 'today' });
  });

  test('are awaited for so long, and until a signal', async () => {
    const run = await client.runs.enqueue({ agent: 'slow', input: 'x' });
    await expect(client.runs.wait(run, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'wait_timeout' });
    const reason = new Error('left');
    const left = new AbortController();
    const waited = client.runs.wait(run, { signal: left.signal });
    left.abort(reason);
    await expect(waited).rejects.toBe(reason);
    await client.runs.cancel(run);
  });
});

describe('threads', () => {
  const metadata = { customer_id: 7, Nested: { snake_key: 1, camelKey: [{ deep_key: null }] } };

  test('keep the JSON of their users as it is', async () => {
    const thread = await client.threads.create({ metadata, systemPrompt: 'Be brief.' });
    expect(thread).toMatchObject({ activeContextRef: 'default', rev: 1, parentThreadId: null });
    expect((await client.threads.get(thread.id)).metadata).toEqual(metadata);
    expect((await client.threads.list({ metadata: { customer_id: 7 } })).data.map(({ id }) => id)).toEqual([thread.id]);
    const toolContext = { user_name: 'ada', userId: 1 };
    expect(await client.threads.configure(thread.id, { toolContext })).toMatchObject({ status: 'applied' });
    expect(await client.threads.config(thread.id)).toMatchObject({ systemPrompt: 'Be brief.', toolContext });
    expect(await client.threads.config(thread.id, { atSeq: 0 })).toMatchObject({ toolContext: {} });
  });

  test('have a log that is appended to and read in pages', async () => {
    const { id } = await client.threads.create();
    const entries = [
      { message: { role: 'user' as const, content: 'one' }, refs: { from_page: 1 } },
      { kind: 'order_shipped', payload: { order_id: 42, shippedAt: 'now' } },
    ];
    const receipt = await client.threads.append(id, entries, { opId: 'op-1', expectedRev: 0 });
    expect(await client.threads.append(id, entries, { opId: 'op-1', expectedRev: 0 })).toMatchObject({
      firstSeq: receipt.firstSeq,
      duplicate: true,
    });
    const page = await client.threads.entries(id, { limit: 1 });
    expect(page).toMatchObject({ data: [{ kind: 'ai_message', contextRef: 'default', payload: { content: 'one' } }] });
    const [next] = (await client.threads.entries(id, { after: page.nextAfter! })).data;
    expect(next).toMatchObject({ kind: 'order_shipped', payload: { order_id: 42, shippedAt: 'now' } });
    expect((await client.threads.uiMessages(id)).data).toMatchObject([{ role: 'user', parts: [{ text: 'one' }] }]);
    await client.threads.erase(id);
    await expect(client.threads.get(id)).rejects.toMatchObject({ code: 'thread_erased', status: 410 });
  });

  test('are forked', async () => {
    const run = await client.runs.enqueue({ agent: 'echo', input: 'x' });
    await client.runs.wait(run);
    const fork = await client.threads.fork(run.threadId, { atSeq: 0, metadata: { tries_it: 1 } });
    expect(fork).toMatchObject({ parentThreadId: run.threadId, forkSeq: 0, metadata: { tries_it: 1 } });
  });
});

describe('contexts', () => {
  test('are projected, replaced, switched, reset and compacted', async () => {
    const run = await client.runs.enqueue({ agent: 'echo', input: 'x', threadId: 'c-1', createThread: true });
    await client.runs.wait(run);
    const rows = await client.contexts.project('c-1');
    expect(rows).toMatchObject([{ role: 'user', content: 'x' }, { role: 'assistant' }]);
    expect(await client.contexts.project('c-1', { atSeq: rows[0]!.seq })).toHaveLength(1);
    const view = await client.contexts.project('c-1', { policy: { maxMessages: 1 }, explain: true });
    expect(view.meta).toMatchObject({ entriesTotal: 2 });
    expect(view.explain).toHaveLength(2);
    const replaced = await client.contexts.replace(
      'c-1',
      { systemPrompt: null, entries: [{ role: 'user', content: 'In short.' }] },
      { meta: { why_so: 1 }, reason: 'manual' },
    );
    expect(replaced).toMatchObject({ status: 'applied', opStatus: 'applied' });
    const { data } = await client.threads.entries('c-1', { after: replaced.seq! - 1 });
    expect(data[0]!.payload).toMatchObject({
      operation: { meta: { why_so: 1 }, result_context: { system_prompt: null } },
    });
    expect(await client.contexts.switch('c-1', 'side')).toMatchObject({ status: 'applied' });
    expect(await client.contexts.project('c-1')).toEqual([]);
    expect((await client.contexts.lanes('c-1')).map(({ contextRef }) => contextRef)).toEqual(['default', 'side']);
    await client.contexts.reset('c-1', { contextRef: 'default' });
    expect(await client.contexts.project('c-1', { contextRef: 'default' })).toEqual([]);
    const compaction = await client.contexts.compact('c-1', { contextRef: 'default' });
    expect((await client.runs.wait(compaction)).strategy).toBe('compaction');
  });

  test('of a call in the past are what was sent', async () => {
    const run = await client.runs.enqueue({ agent: 'echo', input: 'Sent?' });
    await client.runs.wait(run);
    const { data } = await client.threads.entries(run.threadId, { kind: 'ai_message' });
    const llmCallId = data[1]!.refs['llm_call_id'] as string;
    const call = await client.contexts.call(run.threadId, llmCallId);
    expect(call).toMatchObject({ llmCallId, verified: true, messages: [{ role: 'user', content: 'Sent?' }] });
  });
});

test('runs are counted, kept as cases, and watched by alarms', async () => {
  const run = await client.runs.enqueue({ agent: 'triage', input: 'Is it urgent?' });
  await client.runs.wait(run);
  const { agents, runs } = await client.runs.counts({ agent: 'triage' });
  expect(agents).toMatchObject([{ agent: 'triage', runs }]);
  const preview = await client.cases.keepMany({ agent: 'triage' }, 'urgent', { dryRun: true });
  expect(preview).toMatchObject({ matched: runs });
  const filter = { agent: 'triage', createdBefore: preview.createdBefore };
  const { runs: outcomes } = await client.cases.keepMany(filter, 'urgent', { tags: ['today'] });
  expect(outcomes).toHaveLength(runs);
  const [kept] = (await client.cases.list({ dataset: 'urgent', threadId: run.threadId })).data;
  const expected = { tool: { name: 'page', arguments: { onCall: true, room_id: 1 } } };
  expect(await client.cases.update(kept!.id, { expected })).toMatchObject({ expected, tags: ['today'] });
  expect(await client.cases.get(kept!.id)).toMatchObject({ runId: run.id, expected });
  await client.cases.remove(kept!.id);
  await client.cases.keep({ threadId: run.threadId, runId: run.id, dataset: 'again' });
  expect((await client.cases.datasets()).map(({ dataset }) => dataset)).toContain('again');

  const rule = { filter: { errorType: 'Error', waitingFor: 'limit' as const }, moreThan: 3, withinMs: 60_000 };
  expect(await client.alarms.set('errors', rule)).toMatchObject({ name: 'errors', ...rule, raisedAt: null });
  expect(await client.alarms.pause('errors')).toMatchObject({ pausedAt: expect.any(String) });
  expect(await client.alarms.resume('errors')).toMatchObject({ pausedAt: null });
  expect(await client.alarms.list()).toEqual([await client.alarms.get('errors')]);
  expect(Array.isArray(await client.alarms.counts('errors', { since: preview.createdBefore }))).toBe(true);
  await client.alarms.remove('errors');
  await expect(client.alarms.get('errors')).rejects.toMatchObject({ code: 'alarm_not_found', status: 404 });
});

test('browser tokens are minted with a key', async () => {
  const { token, expiresAt } = await client.keys.browserToken({ threadId: 'r-1', access: 'read', expiresInMs: 60_000 });
  expect(Date.parse(expiresAt)).toBeGreaterThan(0);
  const page = createClient({ url: api.url, token });
  expect((await page.threads.get('r-1')).id).toBe('r-1');
  await expect(page.threads.get('c-1')).rejects.toMatchObject({ code: 'forbidden', status: 403 });
});
