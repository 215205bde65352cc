// @module-tag slow
import { defineAgent } from 'lanefold';
import { createClient } from 'lanefold/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, startApi, type Api } from '../api/helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({
    agents: ['desk', 'other'].map((name) => defineAgent({ name, model: 'scripted:echo' })),
    tokenSecrets: ['s'],
  });
});
afterAll(() => api?.close());

/** A thread with a question and its answer. */
async function conversation(threadId: string): Promise<void> {
  const run = await api.lanefold.runs.enqueue({ agent: 'desk', input: 'one', threadId, createThread: true });
  await api.lanefold.runs.wait(run);
}

test('over HTTP, a branch is made once for each key, and says where its run is', async () => {
  await conversation('t');
  const path = '/v1/threads/t/branch';
  const body = { after_seq: -1, agent: 'desk', input: 'eins' };
  const first = await api.call('POST', path, body, { 'idempotency-key': 'k' });
  expect(first).toMatchObject({
    status: 201,
    body: { op_id: 'k', context_ref: 'default@2', duplicate: false, parent: { after_seq: -1, parent_seq: null } },
  });
  const { run } = first.body as { run: { id: string } };
  const again = await api.call('POST', path, body, { 'idempotency-key': 'k' });
  expect(again).toMatchObject({ status: 201, body: { duplicate: true, run: { id: run.id } } });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(first.headers.get('location')).toBe(`/v1/threads/t/runs/${run.id}`);
  expect(await api.call('POST', path, { ...body, input: 'zwei' }, { 'idempotency-key': 'k' })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_mismatch' },
  });
  await api.lanefold.runs.wait({ threadId: 't', id: run.id });
  const lanes = await api.call('GET', '/v1/threads/t/branches');
  expect(lanes.body).toMatchObject({
    data: [{ context_ref: 'default' }, { context_ref: 'default@2', shown: true }],
  });
  const tree = await api.call('GET', '/v1/threads/t/tree?limit=1');
  expect(tree.body).toMatchObject({ data: [{ role: 'user', siblings: 2, place: 1 }], next_after: expect.any(Number) });
  const audit = await api.lanefold.audit.list({ threadId: 't' });
  expect(audit.filter(({ action }) => action === 'branchThread')).toHaveLength(1);
});

test('a key of an agent branches for that agent alone, and needs steer to interrupt', async () => {
  await conversation('bound');
  const { key } = await api.lanefold.keys.create({ name: 'desk', scopes: ['read', 'run'], agents: ['desk'] });
  const post = (body: object) =>
    api.call('POST', '/v1/threads/bound/branch', { after_seq: -1, input: 'x', ...body }, bearer(key));
  expect(await post({ agent: 'other' })).toMatchObject({ status: 403 });
  expect(await post({ agent: 'desk', busy: 'interrupt' })).toMatchObject({ status: 403 });
  expect(await post({ agent: 'desk', model: 'scripted:x' })).toMatchObject({ body: { code: 'override_not_allowed' } });
  expect(await post({ agent: 'desk' })).toMatchObject({ status: 201 });
});

test('a message of the conversation is answered again or edited, and says where its versions are', async () => {
  await conversation('versions');
  const { threads, contexts, runs } = createClient({ url: api.url });
  const shown = async (contextRef?: string) =>
    (await threads.uiMessages('versions', contextRef === undefined ? {} : { contextRef })).data.map(
      ({ id, parts, metadata }) => ({
        id,
        text: parts.map(({ text }) => text ?? '').join(''),
        ...(metadata?.['versions'] as object | undefined),
      }),
    );
  const [question, answer] = await shown();
  // the question is named by itself, or by its answer
  const again = await threads.branch('versions', { messageId: answer!.id, agent: 'desk', opId: 'again' });
  await runs.wait(again.run!);
  expect(await shown()).toMatchObject([
    { id: question!.id, text: 'one' },
    { text: 'one', place: 2, lanes: ['default', 'default@2'] },
  ]);
  expect((await shown())[0]).not.toHaveProperty('place');
  const edited = await threads.branch('versions', {
    messageId: question!.id,
    agent: 'desk',
    input: 'eins',
    opId: 'edit',
  });
  await runs.wait(edited.run!);
  // of the first question, the lane that was last written to
  expect(await shown()).toMatchObject([{ id: 'edit', text: 'eins', place: 2, lanes: ['default@2', 'default@3'] }, {}]);
  expect(await shown('default')).toMatchObject([
    { text: 'one', place: 1, lanes: ['default', 'default@3'] },
    { place: 1, lanes: ['default', 'default@2'] },
  ]);
  // repeated, it is the same request, although the message has another version by now
  expect(await threads.branch('versions', { messageId: answer!.id, agent: 'desk', opId: 'again' })).toMatchObject({
    contextRef: 'default@2',
    duplicate: true,
  });

  await contexts.show('versions', 'default@2', { opId: 'show' });
  expect(await contexts.show('versions', 'default@2', { opId: 'show' })).toMatchObject({ status: 'duplicate' });
  expect((await shown()).map(({ text }) => text)).toEqual(['one', 'one']);
  await expect(contexts.show('versions', 'none')).rejects.toMatchObject({ code: 'invalid_operation' });
  await expect(contexts.show('none', 'default')).rejects.toMatchObject({ code: 'thread_not_found' });
  expect(await threads.branches('versions')).toHaveLength(3);
});

test.each([
  [{}, 'Nothing says where'],
  [{ after_seq: 1, message_id: 'm', agent: 'desk' }, 'one of the two'],
  [{ message_id: 'm' }, 'agent'],
  [{ message_id: 'm', agent: 'desk' }, 'no question m'],
  [{ message_id: 'not an id', agent: 'desk' }, 'message_id'],
])('%j is no place to branch at', async (body, why) => {
  await api.lanefold.threads.create({ id: 'empty' }).catch(() => {});
  const { status, body: problem } = await api.call('POST', '/v1/threads/empty/branch', body);
  expect(status).toBe(400);
  expect(JSON.stringify(problem)).toContain(why);
  expect(await api.lanefold.threads.branches('empty')).toEqual([]);
});

test('the client branches, and reads the tree', async () => {
  await conversation('client');
  const { threads } = createClient({ url: api.url });
  const made = await threads.branch('client', { afterSeq: -1, show: false });
  expect(made).toMatchObject({ contextRef: 'default@2', shown: false, run: null });
  expect(await threads.branches('client')).toHaveLength(2);
  expect((await threads.tree('client')).data).toHaveLength(2);
});
