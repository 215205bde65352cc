import { hostname } from 'node:os';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { RunPage } from '../../page/api/types.ts';
import { fakeModel } from '../support/fake-model.ts';

import { until } from '../support/until.ts';
import { problem, startApi, type Api } from './helpers.ts';

const refund = defineTool({
  name: 'refund',
  input: z.object({ order: z.string() }),
  needsApproval: true,
  execute: () => 'done',
});
const asks = `scripted:${JSON.stringify([{ tools: [{ tool: 'refund', args: { order: 'A-1' } }] }, 'Refunded.'])}`;

describe('lists over threads', () => {
  let api: Api;
  const read = async (path: string) => (await api.call('GET', path)).body as RunPage;
  const ids = async (path: string) => (await read(path)).data.map(({ id }) => id);

  beforeAll(async () => {
    const broken = fakeModel(() => new Error('out of credit'));
    api = await startApi({
      agents: [
        defineAgent({ name: 'calc', model: 'scripted:echo' }),
        defineAgent({ name: 'clerk', model: asks, tools: [refund] }),
      ],
      models: { broken: () => broken },
    });
    const { runs, threads } = api.lanefold;
    for (const [id, tenantId] of [
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'one'],
      ['empty', 'two'],
    ] as const)
      await threads.create({ id, tenantId, metadata: { customer: id, vip: id === 'b' } });
    const ended = [
      await runs.enqueue({ agent: 'calc', threadId: 'a', input: 'The invoice is wrong' }),
      await runs.enqueue({ agent: 'calc', threadId: 'b', input: 'fail', model: 'broken:model' }),
    ];
    for (const run of ended) await runs.wait(run);
    const asked = await runs.enqueue({ agent: 'clerk', threadId: 'c', input: 'A refund for order A-1, please' });
    await until('the run waits for approval', async () => (await runs.get(asked)).status === 'suspended');
  });
  afterAll(() => api?.close());

  test('threads, newest first, page by page, with their state and cost', async () => {
    expect(await ids('/v1/threads')).toEqual(['empty', 'c', 'b', 'a']);
    const seen: string[] = [];
    for (let path = '/v1/threads?limit=3'; ;) {
      const { data, next_after: next } = await read(path);
      seen.push(...data.map(({ id }) => id));
      if (next === null) break;
      path = `/v1/threads?limit=3&after=${encodeURIComponent(next)}`;
    }
    expect(seen).toEqual(['empty', 'c', 'b', 'a']);
    expect((await read('/v1/threads?text=invoice')).data).toEqual([
      expect.objectContaining({
        id: 'a',
        tenant_id: 'one',
        status: 'completed',
        runs: 1,
        total_tokens: expect.any(Number),
        last_run: expect.objectContaining({ agent: 'calc', status: 'completed', error_type: null }),
        last_message: 'The invoice is wrong',
      }),
    ]);
    expect((await read('/v1/threads?limit=1')).data).toMatchObject([{ status: null, runs: 0, last_run: null }]);
  });

  test.each([
    ['tenant_id=one', ['c', 'a']],
    [`metadata=${encodeURIComponent('{"vip":true}')}`, ['b']],
    ['status=failed', ['b']],
    ['status=suspended', ['c']],
    ['status=completed', ['a']],
    ['agent=clerk', ['c']],
    ['agent=nobody', []],
    ['text=order', ['c']],
    ['text=order%20-refund', []],
    ['tenant_id=one&status=completed', ['a']],
    ['created_after=2020-01-01T00:00:00Z&created_before=2021-01-01T00:00:00Z', []],
  ])('threads by %s', async (query, expected) => {
    expect(await ids(`/v1/threads?${query}`)).toEqual(expected);
  });

  test('runs of all threads by status, agent, model, error, cost and time', async () => {
    const threadsOf = async (query: string) => (await read(`/v1/runs?${query}`)).data.map((run) => run.thread_id);
    expect(await threadsOf('')).toEqual(['c', 'b', 'a']);
    expect(await threadsOf('status=failed')).toEqual(['b']);
    expect(await threadsOf('status=suspended')).toEqual(['c']);
    expect(await threadsOf('status=cancelled')).toEqual([]);
    expect(await threadsOf('agent=calc')).toEqual(['b', 'a']);
    expect(await threadsOf('model=broken:model')).toEqual(['b']);
    expect(await threadsOf('error_type=nothing')).toEqual([]);
    expect(await threadsOf('min_tokens=1&status=completed')).toEqual(['a']);
    expect(await threadsOf('min_tokens=1000000')).toEqual([]);
    const { data, next_after: next } = await read('/v1/runs?limit=2');
    expect(data.map((run) => run.thread_id)).toEqual(['c', 'b']);
    expect(await threadsOf(`after=${encodeURIComponent(next!)}`)).toEqual(['a']);
    expect(await threadsOf(`created_before=${encodeURIComponent(data[1]!.created_at)}`)).toEqual(['a']);
  });

  test('calls that wait for approval, until somebody decides', async () => {
    const { data } = await read('/v1/approvals');
    expect(data).toEqual([
      expect.objectContaining({
        thread_id: 'c',
        agent: 'clerk',
        name: 'refund',
        round: 1,
        index: 0,
        arguments: { order: 'A-1' },
      }),
    ]);
    const { run_id: run } = data[0] as unknown as { run_id: string };
    await api.call('POST', `/v1/threads/c/runs/${run}/tool-calls/1.0/approve`);
    expect((await read('/v1/approvals')).data).toEqual([]);
  });

  test('agents and activity', async () => {
    const { data } = await read('/v1/agents');
    expect(data).toEqual([
      expect.objectContaining({
        name: 'calc',
        strategy: 'react',
        max_iterations: 10,
        description: null,
        output_schema: null,
      }),
      expect.objectContaining({
        name: 'clerk',
        tools: [expect.objectContaining({ name: 'refund', needs_approval: true })],
      }),
    ]);
    const activity = (await api.call('GET', '/v1/activity?hours=1')).body as Record<string, never>;
    expect(activity['errors']).toEqual([{ type: expect.any(String), runs: 1, last_at: expect.any(String) }]);
    expect((activity['slots'] as unknown as { runs: number }[]).reduce((sum, slot) => sum + slot.runs, 0)).toBe(3);
  });

  test('workers, and how many of them are alive', async () => {
    const worker = {
      id: expect.stringMatching(/^worker_/),
      state: 'alive',
      host: hostname(),
      pid: process.pid,
      version: expect.stringMatching(/^\d+\.\d+/),
      queue: expect.any(String),
      agents: ['calc', 'clerk'],
      strategies: expect.arrayContaining(['react', 'tot']),
      concurrency: 20,
      runs_held: expect.any(Number),
      started_at: expect.any(String),
      heartbeat_at: expect.any(String),
      stopped_at: null,
    };
    expect((await api.call('GET', '/v1/workers')).body).toEqual({ data: [worker] });
    expect((await api.call('GET', '/v1/activity')).body).toMatchObject({ fleet: { alive: 1, draining: 0, dead: 0 } });
    expect((await api.call('GET', '/metrics')).text).toContain('lanefold_workers{state="alive"} 1\n');
  });

  test.each([
    '/v1/workers?hours=0',
    '/v1/threads?after=x',
    '/v1/threads?after=1/2/3',
    '/v1/runs?after=1/2',
    '/v1/runs?status=lost',
    '/v1/threads?metadata=3',
    '/v1/threads?created_after=yesterday',
    '/v1/threads?before=x',
    '/v1/threads/a?verbose=1',
    '/v1/threads/a/contexts?limit=1',
    '/v1/agents?after=x',
  ])('%s is refused', async (path) => {
    expect((await api.call('GET', path)).status).toBe(400);
  });

  test('an erased thread is in no list', async () => {
    await api.lanefold.threads.erase('empty');
    expect(await ids('/v1/threads')).toEqual(['c', 'b', 'a']);
    expect(await api.call('GET', '/v1/threads/empty/calls/run_1.1')).toMatchObject(problem(410, 'thread_erased'));
  });
});
