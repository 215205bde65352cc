// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { problem, startApi, type Api } from './helpers.ts';

const sum = `scripted:${JSON.stringify([{ tool: 'add', args: { a: 1, b: 2 } }, 'It is 3.'])}`;

describe('runs over HTTP', () => {
  let api: Api;
  const shouted: unknown[] = [];
  beforeAll(async () => {
    api = await startApi({ requestTransformers: { shout: (request) => void shouted.push(request) } });
  });
  afterAll(() => api?.close());

  const ended = (path: string) =>
    until(`${path} has ended`, async () => {
      const { body } = await api.call('GET', path);
      return body['finished_at'] ? (body as Record<string, unknown>) : undefined;
    });

  test('are accepted immediately, executed, and readable with result, usage and trace', async () => {
    await api.call('POST', '/v1/threads', { id: 'r-1' });
    const accepted = await api.call('POST', '/v1/threads/r-1/runs', { agent: 'calc', input: '1+2?', model: sum });
    expect(accepted).toMatchObject({ status: 202, body: { thread_id: 'r-1', duplicate: false } });
    // a worker of this process may have started it at once
    expect(['queued', 'running']).toContain(accepted.body['status']);
    const location = accepted.headers.get('location')!;
    expect(location).toBe(`/v1/threads/r-1/runs/${accepted.body['id']}`);
    expect(await ended(location)).toMatchObject({
      status: 'completed',
      termination_reason: 'final_answer',
      result: 'It is 3.',
      iteration: 2,
      usage: { total_tokens: expect.any(Number) },
      error: null,
      finished_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });

    const events = (await api.call('GET', `${location}/events`)).body as { data: { seq: number; kind: string }[] };
    expect(events.data.map((event) => event.seq)).toEqual(events.data.map((_, i) => i + 1));
    expect(events.data.map((event) => event.kind)).toContain('request_completed');
    const page = (await api.call('GET', `${location}/events?limit=2&after=1`)).body;
    expect(page).toEqual({ data: events.data.slice(2, 4), next_after: 3 });
    const ofThread = (await api.call('GET', '/v1/threads/r-1/events?limit=3')).body;
    expect(ofThread).toEqual({ data: events.data.slice(0, 3), next_after: 2 });
    const rest = (await api.call('GET', '/v1/threads/r-1/events?after=2')).body;
    expect(rest).toEqual({ data: events.data.slice(3), next_after: null });
  });

  test('are accepted many at once: each has its answer, and none harms another', async () => {
    await api.call('POST', '/v1/threads', { id: 'r-batch' });
    const on = { thread_id: 'r-batch', agent: 'calc' };
    const { status, body } = await api.call('POST', '/v1/runs', {
      runs: [
        { ...on, input: 'one', request_id: 'batch-1', ttl_ms: 60_000 },
        { ...on, input: 'two', delay_ms: -1, prioritty: 3 },
        { agent: 'calc', input: 'three', priority: 7 },
        'nonsense',
        { ...on, thread_id: 'nowhere', input: 'four' },
        { ...on, input: 'one', request_id: 'batch-1', ttl_ms: 60_000 },
      ],
    });
    expect(status).toBe(202);
    const { data } = body as { data: { run?: Record<string, string>; problem?: object }[] };
    expect(data).toEqual([
      { run: expect.objectContaining({ thread_id: 'r-batch', request_id: 'batch-1', duplicate: false }) },
      {
        problem: expect.objectContaining({
          status: 400,
          code: 'invalid_request',
          errors: [expect.objectContaining({ path: 'delay_ms' }), expect.objectContaining({ path: 'prioritty' })],
        }),
      },
      { run: expect.objectContaining({ status: 'queued' }) },
      { problem: expect.objectContaining({ status: 400, code: 'invalid_request' }) },
      { problem: expect.objectContaining({ status: 404, code: 'thread_not_found' }) },
      { run: expect.objectContaining({ id: data[0]!.run!['id'], duplicate: true }) },
    ]);
    for (const { run } of [data[0]!, data[2]!])
      expect(await ended(`/v1/threads/${run!['thread_id']}/runs/${run!['id']}`)).toMatchObject({ status: 'completed' });
    expect(await api.call('POST', '/v1/runs', { runs: [] })).toMatchObject(problem(400, 'invalid_request'));
    const later = { agent: 'calc', create_thread: true, input: 'x', delay_ms: 3_600_000, priority: 2 };
    const delayed = await api.call('POST', '/v1/threads/r-later/runs', later);
    const run = (await api.call('GET', delayed.headers.get('location')!)).body as Record<string, string>;
    expect(run).toMatchObject({ status: 'queued', priority: 2, expires_at: null });
    expect(Date.parse(run['start_at']!) - Date.parse(run['created_at']!)).toBe(3_600_000);
  });

  test('with busy: interrupt replace the active run', async () => {
    const hang = 'scripted:echo?latency_ms=600000';
    const body = { agent: 'calc', create_thread: true };
    const first = await api.call('POST', '/v1/threads/r-i/runs', { ...body, input: 'slow', model: hang });
    const next = await api.call('POST', '/v1/threads/r-i/runs', { ...body, input: 'now', busy: 'interrupt' });
    expect(next.status).toBe(202);
    expect(await ended(next.headers.get('location')!)).toMatchObject({ status: 'completed', result: 'now' });
    expect(await ended(first.headers.get('location')!)).toMatchObject({
      status: 'cancelled',
      error: { type: 'cancelled', message: 'interrupted' },
    });
  });

  test('are created once for a repeated request', async () => {
    const send = (input: string, body = {}) =>
      api.call(
        'POST',
        '/v1/threads/r-2/runs',
        { agent: 'calc', input, create_thread: true, ...body },
        { 'Idempotency-Key': 'q-1' },
      );
    const first = await send('hello');
    const again = await send('hello', { request_id: 'q-1' });
    expect([again.status, again.body['id'], again.body['duplicate']]).toEqual([202, first.body['id'], true]);
    expect([first, again].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(await send('other')).toMatchObject(problem(422, 'idempotency_mismatch'));
    expect(await send('hello', { request_id: 'q-2' })).toMatchObject(problem(400, 'invalid_request'));
  });

  test('on a busy thread are rejected or wait, and can be cancelled', async () => {
    await api.call('POST', '/v1/threads', { id: 'r-3' });
    const send = (body = {}) =>
      api.call('POST', '/v1/threads/r-3/runs', {
        agent: 'calc',
        input: 'x',
        model: 'scripted:["x"]?latency_ms=600000',
        ...body,
      });
    const first = await send();
    expect(await send()).toMatchObject(problem(409, 'thread_busy'));
    const second = await send({ busy: 'wait' });
    expect(second).toMatchObject({ status: 202, body: { status: 'waiting' } });

    const listed = (await api.call('GET', '/v1/threads/r-3/runs')).body as { data: { id: string }[] };
    expect(listed.data.map((run) => run.id)).toEqual([second.body['id'], first.body['id']]);
    const page = (await api.call('GET', '/v1/threads/r-3/runs?limit=1')).body;
    expect(page).toMatchObject({ data: [{ id: second.body['id'] }], next_after: expect.any(String) });
    const older = (await api.call('GET', `/v1/threads/r-3/runs?limit=1&after=${page['next_after']}`)).body;
    expect(older).toMatchObject({ data: [{ id: first.body['id'] }], next_after: null });
    expect((await api.call('GET', '/v1/threads/r-3/runs?status=waiting')).body).toMatchObject({
      data: [{ id: second.body['id'] }],
    });

    for (const run of [second, first]) {
      const path = run.headers.get('location')!;
      expect(await api.call('POST', `${path}/cancel`, { reason: 'enough' })).toMatchObject({
        status: 200,
        body: { id: run.body['id'], accepted: true },
      });
      expect(await ended(path)).toMatchObject({ status: 'cancelled' });
      expect((await api.call('POST', `${path}/cancel`)).body).toMatchObject({ status: 'cancelled', accepted: false });
    }
  });

  test('take overrides of their agent', async () => {
    const send = (body: object) =>
      api.call('POST', '/v1/threads/r-5/runs', {
        agent: 'calc',
        input: 'x',
        create_thread: true,
        busy: 'wait',
        ...body,
      });
    const accepted = await send({
      model: sum,
      tools: ['add', 'extra'],
      allowed_tools: ['extra'],
      settings: { max_output_tokens: 50, stop_sequences: ['END'], provider_options: { openai: { user: 'u' } } },
      headers: { 'x-trace': 't' },
      request_transformer: 'shout',
      max_iterations: 3,
      streaming: false,
      idle_timeout_ms: 0,
      tool_timeout_ms: 2_000,
    });
    expect(accepted.status).toBe(202);
    expect(await ended(accepted.headers.get('location')!)).toMatchObject({ status: 'completed', result: 'It is 3.' });
    expect(shouted).toEqual([
      expect.objectContaining({
        tools: ['extra'],
        settings: expect.objectContaining({
          maxOutputTokens: 50,
          stopSequences: ['END'],
          providerOptions: { openai: { user: 'u' } },
          headers: { 'x-trace': 't' },
        }),
      }),
      expect.anything(),
    ]);
    expect(await send({ tools: ['nope'] })).toMatchObject(problem(422, 'unknown_tool'));
    expect(await send({ allowed_tools: ['nope'] })).toMatchObject(problem(422, 'unknown_tool'));
    expect(await send({ request_transformer: 'nope' })).toMatchObject(problem(422, 'invalid_request_transformer'));
    expect(await send({ settings: { temperature: 'hot' } })).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'settings.temperature' }] },
    });
    expect(await send({ settings: { maxOutputTokens: 5 } })).toMatchObject(problem(400, 'invalid_request'));
    expect(await send({ headers: { 'x-trace': 'a\nb' } })).toMatchObject(problem(400, 'invalid_input'));
    expect((await api.call('GET', '/v1/threads/r-5/runs')).body).toMatchObject({ data: [{ id: accepted.body['id'] }] });
  });

  test('return an object if there is an output contract', async () => {
    const send = (output: unknown, answer: string) =>
      api.call('POST', '/v1/threads/r-6/runs', {
        agent: 'calc',
        input: 'x',
        model: `scripted:${JSON.stringify([answer])}`,
        create_thread: true,
        busy: 'wait',
        output,
      });
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const good = await send({ schema, name: 'number', max_repairs: 2 }, '{"n": 3}');
    expect(await ended(good.headers.get('location')!)).toMatchObject({ status: 'completed', result: { n: 3 } });
    const bad = await send({ schema, mode: 'error' }, '{"n": "three"}');
    const failed = { status: 'failed', result: null, error: { type: 'output_validation' } };
    expect(await ended(bad.headers.get('location')!)).toMatchObject(failed);
    const raw = await send('raw', '{"n": 3}');
    expect(await ended(raw.headers.get('location')!)).toMatchObject({ result: '{"n": 3}' });
    expect(await send({ schema: { type: 'array' } }, '')).toMatchObject(problem(422, 'invalid_output'));
    expect(await send({ mode: 'error' }, '')).toMatchObject(problem(400, 'invalid_request'));
    expect(await send({ schema, mode: 'sometimes' }, '')).toMatchObject(problem(400, 'invalid_request'));
  });

  test('that are invalid are rejected before anything is written', async () => {
    await api.call('POST', '/v1/threads', { id: 'r-4' });
    const send = (body: object, thread = 'r-4') =>
      api.call('POST', `/v1/threads/${thread}/runs`, { agent: 'calc', input: 'x', ...body });
    expect(await send({ agent: 'nobody' })).toMatchObject(problem(422, 'unknown_agent'));
    expect(await send({ model: 'scripted:nonsense' })).toMatchObject(problem(422, 'unknown_model'));
    expect(await send({ input: ' ' })).toMatchObject(problem(400, 'empty_content'));
    expect(await send({ input: 7 })).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'input' }] },
    });
    expect(await send({ max_iterations: 0 })).toMatchObject(problem(400, 'invalid_request'));
    expect(await send({}, 'nobody')).toMatchObject({
      ...problem(404, 'thread_not_found'),
      body: { hint: expect.stringContaining('"create_thread": true') as string },
    });
    expect(await api.call('GET', '/v1/threads/r-4/runs/nothing')).toMatchObject(problem(404, 'run_not_found'));
    expect(await api.call('POST', '/v1/threads/r-4/runs/nothing/cancel')).toMatchObject(problem(404, 'run_not_found'));
    expect((await api.call('GET', '/v1/threads/r-4/runs')).body).toEqual({ data: [], next_after: null });
  });
});
