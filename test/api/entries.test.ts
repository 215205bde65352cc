import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { problem, startApi, type Api } from './helpers.ts';

const user = (content: string) => ({ kind: 'ai_message', payload: { role: 'user', content } });
const asks = {
  kind: 'ai_message',
  payload: { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }] },
};

describe('entries over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false, largeContentBytes: 4_096 });
    for (const id of ['log', 'keys', 'groups', 'large']) await api.call('POST', '/v1/threads', { id });
  });
  afterAll(() => api?.close());

  const seqs = (page: { body: never }) => (page.body as { data: { seq: number }[] }).data.map((entry) => entry.seq);

  test('are appended at the expected rev and read page by page without gaps or duplicates', async () => {
    const appended = await api.call('POST', '/v1/threads/log/entries', {
      entries: [user('a'), { kind: 'note', payload: { x: 1 }, refs: { mine: 1 } }, user('b'), user('c'), user('d')],
      expected_rev: 0,
    });
    expect(appended).toMatchObject({ status: 201, body: { first_seq: 0, rev: 5, duplicate: false } });
    expect(await api.call('POST', '/v1/threads/log/entries', { entries: [user('e')], expected_rev: 4 })).toMatchObject(
      problem(409, 'rev_conflict'),
    );

    const first = await api.call('GET', '/v1/threads/log/entries?limit=2');
    expect([seqs(first), first.body['next_after']]).toEqual([[0, 1], 1]);
    const second = await api.call('GET', '/v1/threads/log/entries?limit=3&after=1');
    expect([seqs(second), second.body['next_after']]).toEqual([[2, 3, 4], null]);
    expect((await api.call('GET', '/v1/threads/log/entries?kind=note')).body).toMatchObject({
      data: [{ seq: 1, kind: 'note', payload: { x: 1 }, refs: { mine: 1 } }],
      next_after: null,
    });
    expect(seqs(await api.call('GET', '/v1/threads/log/entries?context_ref=default'))).toEqual([0, 2, 3, 4]);
    expect(seqs(await api.call('GET', '/v1/threads/log/entries?after=99'))).toEqual([]);
  });

  test('with a key are appended once, and a repeat returns the first receipt', async () => {
    const send = (text: string, op?: string, key?: string) =>
      api.call(
        'POST',
        '/v1/threads/keys/entries',
        { entries: [user(text)], op_id: op },
        key ? { 'Idempotency-Key': key } : {},
      );
    const first = await send('a', undefined, 'k-1');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const again = await send('a', 'k-1');
    expect([again.status, again.body['first_seq'], again.headers.get('idempotent-replayed')]).toEqual([201, 0, 'true']);
    expect(await send('b', 'k-1', 'k-1')).toMatchObject(problem(422, 'idempotency_mismatch'));
    expect(await send('a', 'k-1', 'k-2')).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'op_id' }] },
    });
    expect(await send('a', undefined, 'not an id')).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'Idempotency-Key' }] },
    });
    expect((await api.call('GET', '/v1/threads/keys')).body).toMatchObject({ rev: 1 });
  });

  test('that leave a tool call open are rejected, or repaired on request', async () => {
    expect(await api.call('POST', '/v1/threads/groups/entries', { entries: [asks] })).toMatchObject(
      problem(422, 'open_tool_group'),
    );
    expect(await api.call('POST', '/v1/threads/groups/entries', { entries: [asks], repair: true })).toMatchObject({
      status: 201,
      body: { first_seq: 0, rev: 2 },
    });
  });

  test('that are invalid get an error for the field of the intended variant', async () => {
    const errors = async (entry: object) =>
      (await api.call('POST', '/v1/threads/groups/entries', { entries: [entry] })).body['errors'] as { path: string }[];
    expect(await errors({ kind: 'ai_message', payload: { role: 'boss', content: 'x' } })).toMatchObject([
      { path: 'entries[0].payload.role' },
    ]);
    expect(await errors({ kind: 'note', payload: 7 })).toMatchObject([{ path: 'entries[0].payload' }]);
    expect(await errors({ ...user('x'), extra: 1 })).toMatchObject([{ path: 'entries[0].extra' }]);
    expect(
      await errors({ kind: 'ai_message', payload: { role: 'user', content: [{ type: 'hologram' }] } }),
    ).toMatchObject([{ path: 'entries[0].payload.content', message: expect.stringContaining('hologram') }]);
    expect(
      await api.call('POST', '/v1/threads/groups/entries', { entries: [{ kind: 'ai_config_change', payload: {} }] }),
    ).toMatchObject(problem(400, 'reserved_kind'));
    const forged = { kind: 'openai_agents_items', payload: { items: ['{}'] } };
    for (const body of [{ entries: [forged] }, { entries: [user('x')], op_id: 'langgraph.c.root.1' }])
      expect(await api.call('POST', '/v1/threads/groups/entries', body)).toMatchObject(problem(400, 'reserved_kind'));
  });

  test.each(['run_id', 'contents', 'tool_calls_cut', 'cut_moved'])(
    'cannot pass for those of the runtime with refs.%s',
    async (key) => {
      const entries = [{ kind: 'note', payload: {}, refs: { [key]: 'x' } }];
      const answer = await api.call('POST', '/v1/threads/groups/entries', { entries });
      expect(answer).toMatchObject({
        ...problem(400, 'invalid_input'),
        body: { detail: expect.stringContaining(key) },
      });
    },
  );

  test('show large texts in part and name them; the whole is read range by range', async () => {
    const text = 'é'.repeat(70_000);
    await api.call('POST', '/v1/threads/large/entries', { entries: [user(text)] });
    const { body } = await api.call('GET', '/v1/threads/large/entries');
    const [{ refs }] = (body as { data: [{ refs: { contents: [{ id: string }] } }] }).data;
    const [{ id }] = refs.contents;
    expect(refs.contents).toEqual([{ id, chars: 70_000, bytes: 140_000 }]);
    const read = async (query = '') => (await api.call('GET', `/v1/threads/large/contents/${id}${query}`)).body;
    expect(await read()).toEqual({
      id,
      chars: 70_000,
      bytes: 140_000,
      offset: 0,
      next_offset: 65_536,
      text: text.slice(0, 65_536),
    });
    expect(await read('?offset=65536')).toMatchObject({ text: text.slice(65_536), next_offset: null });
    expect(await read('?offset=3&length=2')).toMatchObject({ text: 'éé', next_offset: 5 });
    expect(await api.call('GET', '/v1/threads/large/contents/c_none')).toMatchObject(problem(404, 'content_not_found'));
    expect(await api.call('GET', `/v1/threads/large/contents/${id}?length=0`)).toMatchObject(
      problem(400, 'invalid_request'),
    );
  });
});
