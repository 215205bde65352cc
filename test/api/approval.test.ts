import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { until } from '../support/until.ts';
import { problem, startApi, type Api } from './helpers.ts';

const pay = defineTool({ name: 'pay', input: z.object({ n: z.number() }), needsApproval: true, execute: () => 'paid' });
const model = `scripted:${JSON.stringify([
  {
    tools: [
      { tool: 'pay', args: { n: 1 } },
      { tool: 'pay', args: { n: 2 } },
    ],
  },
  'done',
])}`;

describe('approval over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ agents: [defineAgent({ name: 'a', model, tools: [pay] })] });
  });
  afterAll(() => api?.close());

  test('is requested by the run and granted call by call, and the run continues', async () => {
    const sent = await api.call('POST', '/v1/threads/ap/runs', { agent: 'a', input: 'go', create_thread: true });
    const at = sent.headers.get('location')!;
    const read = async (status: string) =>
      until(`it is ${status}`, async () => {
        const { body } = await api.call('GET', at);
        return body['status'] === status ? (body as Record<string, unknown>) : undefined;
      });
    expect(await read('suspended')).toMatchObject({
      approvals: [
        { call: '1.0', round: 1, index: 0, name: 'pay', arguments: { n: 1 } },
        { call: '1.1', round: 1, index: 1, name: 'pay', arguments: { n: 2 } },
      ],
      suspended_until: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const decide = (path: string, body?: object) => api.call('POST', `${at}/tool-calls/${path}`, body);
    expect(await decide('1.0/deny', { by: 'ada', reason: 'no budget' })).toMatchObject({
      status: 200,
      body: {
        thread_id: 'ap',
        run_id: sent.body['id'],
        call: '1.0',
        decision: 'denied',
        by: 'ada',
        reason: 'no budget',
        decided_at: expect.any(String),
        duplicate: false,
        status: 'suspended',
      },
    });
    expect(await decide('1.0/deny')).toMatchObject({ status: 200, body: { duplicate: true, by: 'ada' } });
    expect(await decide('1.0/approve')).toMatchObject(problem(409, 'already_decided'));
    expect(await decide('1.7/approve')).toMatchObject(problem(404, 'tool_call_not_found'));
    expect(await decide('first/approve')).toMatchObject(problem(400, 'invalid_id'));
    expect(await decide('1.1/approve', { by: 7 })).toMatchObject(problem(400, 'invalid_request'));
    expect(await decide('1.1/approve')).toMatchObject({ status: 200, body: { status: 'queued', by: null } });
    expect(await read('completed')).toMatchObject({ result: 'done', approvals: [], suspended_until: null });
    const context = (await api.call('GET', '/v1/threads/ap/contexts/default')).body as {
      messages: { content: string }[];
    };
    expect(context.messages[2]!.content).toContain('no budget');
    expect(context.messages[3]!.content).toBe('paid');
  });
});
