// @module-tag slow
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createMcpServer } from 'lanefold/mcp';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { envelope, rawRequest } from './tasks-client.ts';
import { errorOf, newClient, runOf, startRig, textOf, type Rig } from './rig.ts';

type Ask = { message: string; requestedSchema?: unknown };
type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | boolean> };
type CallTool = (call: { name: string; arguments: Record<string, unknown> }) => Promise<object>;

describe('runs that need a person', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ waitMs: 60_000 });
    await rig.work();
  });
  afterAll(() => rig?.close());

  /** Clients that can ask their user: the one of today over HTTP, and the first one, which needs a lasting connection. */
  const clients: [string, (answer: (ask: Ask) => Reply) => Promise<CallTool>][] = [
    [
      '2026-07-28 over HTTP',
      async (answer) => {
        const client = await newClient(rig.url, { capabilities: { elicitation: { form: {} } } });
        client.setRequestHandler('elicitation/create', ({ params }) => Promise.resolve(answer(params as Ask)));
        return (call) => client.callTool(call);
      },
    ],
    [
      'the first SDK over a connection',
      async (answer) => {
        const client = new OldClient({ name: 'judge', version: '1' }, { capabilities: { elicitation: {} } });
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params as Ask));
        const [near, far] = InMemoryTransport.createLinkedPair();
        const server = createMcpServer(rig.front, { waitMs: 60_000 });
        await Promise.all([server.connect(far), client.connect(near as never)]);
        onTestFinished(() => client.close());
        return (call) => client.callTool(call);
      },
    ],
  ];

  describe.each(clients)('%s', (_, connect) => {
    test('approves and denies the calls of a round', async () => {
      const asked: Ask[] = [];
      const callTool = await connect((ask): Reply => {
        asked.push(ask);
        return ask.message.includes('home')
          ? { action: 'accept', content: { approve: true } }
          : { action: 'accept', content: { approve: false, reason: 'too far' } };
      });
      const result = callTool({ name: 'typist', arguments: { message: 'dig' } });
      const both = [{ at: 'home' }, { at: 'sea' }].map((args, i) => ({ id: `d${i}`, name: 'dig', args }));
      (await rig.model.next()).stop(...both);
      const after = await rig.model.next();
      const prompt = JSON.stringify(after.call.prompt);
      expect(prompt).toContain('dug at home');
      expect(prompt).not.toContain('dug at sea');
      expect(prompt).toContain('too far');
      after.type('Done.');
      after.stop();
      const { thread_id, run_id, ...run } = runOf(await result);
      expect(run).toMatchObject({ status: 'completed', output: 'Done.' });
      expect(asked.map(({ message }) => message).sort()).toEqual([
        'The agent typist wants to call the tool dig with {"at":"home"}. May it?',
        'The agent typist wants to call the tool dig with {"at":"sea"}. May it?',
      ]);
      const events = await rig.front.runs.events({ threadId: thread_id, id: run_id });
      const decided = events.filter(({ kind }) => kind === 'approval_decided');
      expect(decided.map(({ data }) => data['by'])).toEqual(['MCP client judge', 'MCP client judge']);
    });

    test('gives the result of a call that waits for an event', async () => {
      const callTool = await connect(() => ({ action: 'accept', content: { result: '{"paid":42}' } }));
      const result = callTool({ name: 'typist', arguments: { message: 'pay' } });
      (await rig.model.next()).stop({ id: 'p', name: 'pay', args: { order: '7' } });
      const after = await rig.model.next();
      expect(JSON.stringify(after.call.prompt)).toContain('paid');
      after.type('Paid.');
      after.stop();
      expect(runOf(await result)).toMatchObject({ output: 'Paid.' });
    });

    test('leaves a question open that its user dismisses, and does not ask it again', async () => {
      let asked = 0;
      const callTool = await connect(() => {
        asked += 1;
        return { action: 'cancel' };
      });
      const result = callTool({ name: 'typist', arguments: { message: 'dig' } });
      (await rig.model.next()).stop({ id: 'd', name: 'dig', args: { at: 'home' } });
      const suspended = await result;
      expect(asked).toBe(1);
      const { thread_id, run_id, ...run } = runOf(suspended);
      expect(run).toMatchObject({
        status: 'suspended',
        open_calls: [{ call: '1.0', kind: 'approval', tool: 'dig', arguments: { at: 'home' } }],
      });
      expect(textOf(suspended)).toContain('1.0 (dig) waits for approval');
      await callTool({ name: 'lanefold_decide', arguments: { thread_id, run_id, call: '1.0', decision: 'deny' } });
      (await rig.model.next()).stop();
      await rig.front.runs.wait({ threadId: thread_id, id: run_id });
    });
  });

  test.each([
    ['a key without approve', { scopes: ['read', 'run', 'steer'] as const }, ['lanefold_resolve'], 'dig'],
    ['a key without steer', { scopes: ['read', 'run', 'approve'] as const }, ['lanefold_decide'], 'pay'],
  ])('%s is asked and offered only what it may decide, and told who can', async (_, { scopes }, offered, refused) => {
    const { key } = await rig.front.keys.create({ name: 'k', scopes });
    const client = await newClient(rig.url, { key, capabilities: { elicitation: { form: {} } } });
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push((params as Ask).message);
      return Promise.resolve({ action: 'cancel' as const });
    });
    const { tools } = await client.listTools();
    const deciding = tools.map(({ name }) => name).filter((name) => /decide|resolve/.test(name));
    expect(deciding).toEqual(offered);
    const result = client.callTool({ name: 'typist', arguments: { message: 'dig and pay' } });
    const calls = [
      { id: 'd', name: 'dig', args: { at: 'home' } },
      { id: 'p', name: 'pay', args: { order: '11' } },
    ];
    (await rig.model.next()).stop(...calls);
    const suspended = await result;
    expect(asked).toEqual([expect.not.stringContaining(`tool ${refused} `)]);
    const text = textOf(suspended);
    expect(text).toContain(`Decide with ${offered[0]!}.`);
    expect(text).toMatch(
      refused === 'dig'
        ? /This key may not approve or deny: a person does, on the page or with `lanefold approve`/
        : /This key may not resolve a wait: its event does, or a person with a key that has the scope steer/,
    );
    const { thread_id: threadId, run_id: id } = runOf(suspended);
    await rig.front.runs.cancel({ threadId, id });
  });

  test('a client that cannot ask is told what waits, and decides with a tool', async () => {
    const client = await newClient(rig.url);
    const call = (name: string, args: object) => client.callTool({ name, arguments: args as never });
    const result = call('typist', { message: 'dig and pay' });
    const calls = [
      { id: 'd', name: 'dig', args: { at: 'home' } },
      { id: 'p', name: 'pay', args: { order: '9' } },
    ];
    (await rig.model.next()).stop(...calls);
    const suspended = await result;
    const { thread_id, run_id, open_calls } = runOf(suspended);
    expect(open_calls).toMatchObject([
      { call: '1.0', kind: 'approval' },
      { call: '1.1', kind: 'event', event: 'paid:9' },
    ]);
    const run = { thread_id, run_id };
    expect(errorOf(await call('lanefold_decide', { ...run, call: 'first', decision: 'deny' })).code).toBe(
      'invalid_input',
    );
    expect(errorOf(await call('lanefold_decide', { ...run, call: '1.7', decision: 'deny' })).code).toBe(
      'tool_call_not_found',
    );
    expect(errorOf(await call('lanefold_decide', { ...run, call: '1.1', decision: 'deny' })).code).toBe(
      'not_awaiting_approval',
    );
    const approve = { ...run, call: '1.0', decision: 'approve' };
    expect(JSON.parse(textOf(await call('lanefold_decide', approve)))).toMatchObject({
      decision: 'approved',
      duplicate: false,
    });
    expect(JSON.parse(textOf(await call('lanefold_decide', approve)))).toMatchObject({ duplicate: true });
    expect(errorOf(await call('lanefold_decide', { ...approve, decision: 'deny' })).code).toBe('already_decided');
    const resolved = await call('lanefold_resolve', { ...run, call: '1.1', result: 'cash' });
    expect(JSON.parse(textOf(resolved))).toMatchObject({ resolved: true });
    const after = await rig.model.next();
    expect(JSON.stringify(after.call.prompt)).toContain('cash');
    after.type('Both.');
    after.stop();
    expect(runOf(await call('lanefold_run_result', run))).toMatchObject({ output: 'Both.' });
  });

  test('an altered requestState, and answers of the wrong kind, decide nothing', async () => {
    const client = await newClient(rig.url, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler('elicitation/create', () =>
      Promise.resolve({ action: 'accept', content: { approve: 'perhaps' } } as never),
    );
    const result = client.callTool({ name: 'typist', arguments: { message: 'dig' } });
    (await rig.model.next()).stop({ id: 'd', name: 'dig', args: { at: 'home' } });
    expect(errorOf(await result)).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('approve') });
    const [pending] = (await rig.front.approvals.list()).data;
    expect(pending).toMatchObject({ name: 'dig' });
    await rig.front.runs.cancel({ threadId: pending!.threadId, id: pending!.runId });

    const call = { name: 'typist', arguments: { message: 'x' }, _meta: envelope() };
    for (const requestState of [
      '{',
      '{}',
      '{"thread_id":"t","run_id":"../r"}',
      '{"thread_id":"t","run_id":"r","more":1}',
    ])
      expect(await rawRequest(rig.url, { method: 'tools/call', params: { ...call, requestState } })).toMatchObject({
        error: { code: -32602 },
      });
    const other = { ...call, requestState: '{"thread_id":"t","run_id":"r"}', inputResponses: {} };
    const answer = await rawRequest(rig.url, { method: 'tools/call', params: other });
    expect(errorOf(answer.result as object).code).toBe('run_not_found');
  });
});
