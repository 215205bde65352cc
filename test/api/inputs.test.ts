// @module-tag slow
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type FaultHarness } from '../faults/harness.ts';
import type { Answer } from '../faults/fixtures/call-server.ts';

import { expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { caller, problem, type Api } from './helpers.ts';

describe('a run on a worker in another process', () => {
  let bench: FaultHarness;
  let call: Api['call'];
  let gate = deferred<Answer>();
  let arrived = deferred();
  beforeAll(async () => {
    bench = await startHarness();
    call = caller((await bench.startServer({ port: 0, onError: () => {} })).url);
    await bench.spawnWorker();
  });
  afterEach(() => gate.resolve({ text: 'over' }));
  afterAll(() => bench?.close());

  /** A run whose first model call waits for `gate`; the later ones answer immediately. */
  async function held(threadId: string): Promise<string> {
    gate = deferred<Answer>();
    arrived = deferred();
    let calls = 0;
    bench.callServer.respond = () => {
      arrived.resolve();
      return calls++ === 0 ? gate.promise : { text: `answer ${calls}` };
    };
    await call('POST', '/v1/threads', { id: threadId });
    const run = await call('POST', `/v1/threads/${threadId}/runs`, { agent: 'fault', input: 'go' });
    await arrived.promise;
    return run.headers.get('location')!;
  }
  const ended = (path: string) =>
    until(`${path} has ended`, async () => {
      const { body } = await call('GET', path);
      return body['finished_at'] ? (body as Record<string, unknown>) : undefined;
    });
  const contents = async (threadId: string) =>
    (await bench.contexts.project(threadId)).filter((row) => row.role !== 'system').map((row) => row.content);

  test('reads its inputs in order, each exactly once', async () => {
    const path = await held('s-1');
    const first = await call('POST', `${path}/steer`, { content: '  one ' }, { 'Idempotency-Key': 'in-1' });
    expect(first).toMatchObject({
      status: 202,
      body: { input_id: 'in-1', thread_id: 's-1', run_id: path.split('/').at(-1), status: 'queued', duplicate: false },
    });
    const again = await call('POST', `${path}/steer`, { content: 'one', input_id: 'in-1' });
    expect(again).toMatchObject({ status: 202, body: { input_id: 'in-1', status: 'queued', duplicate: true } });
    expect([first, again].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await call('POST', `${path}/inject`, { content: 'one', input_id: 'in-1' })).toMatchObject(
      problem(422, 'idempotency_mismatch'),
    );
    const second = await call('POST', `${path}/inject`, {
      content: 'two',
      role: 'user',
      by: 'monitor',
      extra_refs: { alarm: 7 },
    });
    expect(second).toMatchObject({ status: 202, body: { status: 'queued' } });
    await call('POST', `${path}/steer`, { content: 'three' });

    expect((await call('GET', `${path}/inputs`)).body).toMatchObject({
      data: [
        { id: 'in-1', ordinal: 1, kind: 'steer', content: 'one', status: 'queued', entry_seq: null, settled_at: null },
        { ordinal: 2, kind: 'inject', by: 'monitor', content: 'two', status: 'queued' },
        { ordinal: 3, kind: 'steer', by: 'lanefold', content: 'three', status: 'queued' },
      ],
      next_after: null,
    });
    gate.resolve({ text: 'not the last word' });
    expect(await ended(path)).toMatchObject({ status: 'completed', result: 'answer 2' });
    expect(await contents('s-1')).toEqual(['go', 'not the last word', 'one', 'two', 'three', 'answer 2']);

    const entries = await bench.threads.entries('s-1');
    const injected = entries.filter((entry) => entry.refs['input_id']);
    expect(injected.map((entry) => entry.refs)).toMatchObject([
      { kind: 'steer' },
      { kind: 'inject', alarm: 7 },
      { kind: 'steer' },
    ]);
    const page = (await call('GET', `${path}/inputs?limit=2`)).body as { data: object[]; next_after: number };
    expect(page).toMatchObject({
      data: [{ status: 'injected', entry_seq: injected[0]!.seq }, {}],
      next_after: 2,
    });
    expect((await call('GET', `${path}/inputs?after=2`)).body).toMatchObject({ data: [{ ordinal: 3 }] });
    const late = await call('POST', `${path}/steer`, { content: 'one' }, { 'Idempotency-Key': 'in-1' });
    expect(late).toMatchObject({ status: 202, body: { status: 'injected', duplicate: true } });
    await expectSound(bench, 's-1');
  });

  test('queues at most 64 inputs and drops them when it is cancelled', async () => {
    const path = await held('s-2');
    for (let i = 0; i < 64; i++) {
      expect((await call('POST', `${path}/steer`, { content: `input ${i}` })).status).toBe(202);
    }
    expect(await call('POST', `${path}/inject`, { content: 'one more' })).toMatchObject(problem(409, 'queue_full'));
    await call('POST', `${path}/cancel`);
    expect(await call('POST', `${path}/steer`, { content: 'too late' })).toMatchObject({ status: 409 });
    expect(await ended(path)).toMatchObject({ status: 'cancelled' });
    const { data } = (await call('GET', `${path}/inputs`)).body as { data: { status: string }[] };
    expect(data.map((input) => input.status)).toEqual(Array(64).fill('dropped'));
    expect(await contents('s-2')).toEqual(['go']);
  });

  test('rejects input with the reason and changes nothing', async () => {
    const path = await held('s-3');
    const steer = (body: object, at = path) => call('POST', `${at}/steer`, body);
    expect(await steer({ content: ' \n ' })).toMatchObject(problem(400, 'empty_content'));
    expect(await steer({ content: 7 })).toMatchObject(problem(400, 'invalid_input'));
    expect(await steer({ content: { text: 'x' } })).toMatchObject(problem(400, 'invalid_input'));
    expect(await steer({})).toMatchObject(problem(400, 'invalid_request'));
    for (const role of ['system', 'assistant', 'tool', 'User', '', null, 7]) {
      expect(await steer({ content: 'x', role }), String(role)).toMatchObject(problem(400, 'invalid_input'));
    }
    expect(await steer({ content: 'x', expected_request_id: 'another' })).toMatchObject(
      problem(409, 'other_run_active'),
    );
    const waiting = await call('POST', '/v1/threads/s-3/runs', { agent: 'fault', input: 'next', busy: 'wait' });
    expect(await steer({ content: 'x' }, waiting.headers.get('location')!)).toMatchObject(
      problem(409, 'other_run_active'),
    );
    expect(await steer({ content: 'x' }, '/v1/threads/s-3/runs/nobody')).toMatchObject(problem(404, 'run_not_found'));
    expect(await steer({ content: 'x' }, '/v1/threads/nobody/runs/nobody')).toMatchObject(
      problem(404, 'thread_not_found'),
    );
    expect((await call('GET', `${path}/inputs`)).body).toEqual({ data: [], next_after: null });
    expect(await call('GET', '/v1/threads/s-3/runs/nobody/inputs')).toMatchObject(problem(404, 'run_not_found'));

    await call('POST', `${waiting.headers.get('location')}/cancel`);
    gate.resolve({ text: 'done' });
    await ended(path);
    expect(await steer({ content: 'x' })).toMatchObject(problem(409, 'no_active_run'));
    expect(await steer({ content: 7 })).toMatchObject(problem(409, 'no_active_run'));
    expect(await contents('s-3')).toEqual(['go', 'done']);
  });
});
