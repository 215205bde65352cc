// @module-tag slow
import type { NewKey } from 'lanefold';
import { createMcpHandler, createMcpServer, mountMcp, type McpHandler } from 'lanefold/mcp';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { errorOf, newClient, oldClient, runOf, startRig, textOf, type Rig } from './rig.ts';
import { envelope, rawRequest } from './tasks-client.ts';

const apiKey = 'the-key-of-the-operator';

describe('keys', () => {
  let rig: Rig;
  /** A thread of another tenant, and one of the agent echo, each with a run. */
  let foreign: { threadId: string; id: string };
  let shared: { threadId: string; id: string };
  const secret = 'of forty characters or more, to be safe!';
  beforeAll(async () => {
    rig = await startRig({}, { apiKey }, { tokenSecrets: [secret] });
    await rig.work();
    await rig.front.threads.create({ id: 'foreign', tenantId: 'other' });
    foreign = await rig.front.runs.enqueue({ agent: 'echo', input: 'secret', threadId: 'foreign' });
    shared = await rig.front.runs.enqueue({ agent: 'echo', input: 'open', threadId: 'shared', createThread: true });
    await Promise.all([rig.front.runs.wait(foreign), rig.front.runs.wait(shared)]);
  });
  afterAll(() => rig?.close());

  const all: NewKey = { name: 'k', scopes: ['read', 'run', 'steer', 'approve'] };
  const connect = async (fields: Partial<NewKey>) => {
    const { key } = await rig.front.keys.create({ ...all, ...fields });
    const client = await newClient(rig.url, { key });
    return {
      client,
      call: (name: string, args: object) => client.callTool({ name, arguments: args as never }),
      read: (uri: string) => client.readResource({ uri }),
    };
  };
  const nameOf = ({ threadId, id }: { threadId: string; id: string }) => ({ thread_id: threadId, run_id: id });

  test('no key, a wrong key and a revoked key open nothing', async () => {
    await expect(newClient(rig.url)).rejects.toMatchObject({ status: 401 });
    await expect(newClient(rig.url, { key: 'wrong' })).rejects.toMatchObject({ status: 401 });
    await expect(oldClient(rig.url, { key: 'wrong' })).rejects.toMatchObject({ code: 401 });
    const { id, key } = await rig.front.keys.create({ name: 'k', scopes: ['read'] });
    await rig.front.keys.revoke(id);
    await expect(newClient(rig.url, { key })).rejects.toMatchObject({ status: 401 });
    const client = await newClient(rig.url, { key: apiKey });
    expect((await client.listTools()).tools).toHaveLength(11);
  });

  test('a key of a tenant neither reads nor asks in a thread of another one', async () => {
    const { client, call, read } = await connect({ tenant: 'acme' });
    const mine = runOf(await call('echo', { message: 'mine' }));
    expect(await rig.front.threads.get(mine.thread_id)).toMatchObject({ tenantId: 'acme' });
    expect((await client.listResources()).resources.map(({ name }) => name)).toEqual([mine.thread_id]);
    expect(errorOf(await call('echo', { message: 'x', thread_id: 'foreign' })).code).toBe('thread_not_found');
    for (const tool of ['lanefold_run_status', 'lanefold_run_result'])
      expect(errorOf(await call(tool, nameOf(foreign))).code).toBe('run_not_found');
    expect(errorOf(await call('lanefold_cancel', nameOf(foreign))).code).toBe('thread_not_found');
    for (const uri of ['foreign', 'foreign/contexts/default', `foreign/runs/${foreign.id}`, 'foreign/calls/1'])
      await expect(read(`lanefold://threads/${uri}`), uri).rejects.toMatchObject({ code: -32602 });
    const { key } = await rig.front.keys.create({ name: 'k', scopes: ['read', 'run'], tenant: 'acme' });
    const auth = { authorization: `Bearer ${key}` };
    const taskId = `echo/foreign/${foreign.id}`;
    const params = { taskId, _meta: envelope() };
    expect(await rawRequest(rig.url, { method: 'tasks/get', params }, auth)).toMatchObject({ error: { code: -32602 } });
    // answering questions about it is no way in either
    const requestState = JSON.stringify(nameOf(foreign));
    const again = { name: 'echo', arguments: { message: 'x' }, requestState, inputResponses: {}, _meta: envelope() };
    const { result } = await rawRequest(rig.url, { method: 'tools/call', params: again }, auth);
    expect(errorOf(result as object).code).toBe('run_not_found');
  });

  const callers: [string, () => Promise<string>][] = [
    ['a key of another tenant', async () => (await rig.front.keys.create({ ...all, tenant: 'acme' })).key],
    ['a key of other threads', async () => (await rig.front.keys.create({ ...all, threadPrefix: 'desk-' })).key],
    ['a key of another agent', async () => (await rig.front.keys.create({ ...all, agents: ['triage'] })).key],
    [
      'a token of another thread',
      async () => (await rig.front.keys.browserToken({ threadId: 'shared', access: 'approve' })).token,
    ],
  ];

  test.each(callers)('%s reaches a thread by no resource, tool or task', async (_, newKey) => {
    const key = await newKey();
    const [client, operator] = await Promise.all([newClient(rig.url, { key }), newClient(rig.url, { key: apiKey })]);
    const { resourceTemplates } = await operator.listResourceTemplates();
    const variables = { ...nameOf(foreign), context_ref: 'default', seq: '1' } as Record<string, string>;
    for (const { uriTemplate } of resourceTemplates) {
      const uri = uriTemplate.replaceAll(/\{(\??)(\w+)\}/g, (_, query, name: string) =>
        query ? '' : variables[name]!,
      );
      expect((await operator.readResource({ uri })).contents, uri).toHaveLength(1);
      await expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32602 });
    }
    const given = { ...nameOf(foreign), message: 'x', agent: 'echo', call: '1.0', decision: 'deny', result: 'x' };
    const { tools } = await operator.listTools();
    const tried = tools.filter(({ name }) => name === 'echo' || name.startsWith('lanefold_'));
    expect(tried).toHaveLength(8);
    const before = await rig.front.threads.get('foreign');
    for (const { name, inputSchema } of tried) {
      const args = Object.entries(given).filter(([field]) => Object.hasOwn(inputSchema.properties!, field));
      const { code } = errorOf(await client.callTool({ name, arguments: Object.fromEntries(args) }));
      expect([name, ['thread_not_found', 'run_not_found', 'forbidden'].includes(code), code]).toEqual([
        name,
        true,
        code,
      ]);
    }
    const params = { taskId: `echo/foreign/${foreign.id}`, inputResponses: {}, _meta: envelope() };
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await rawRequest(rig.url, { method, params }, { authorization: `Bearer ${key}` });
      expect([method, answer]).toMatchObject([method, { error: { code: -32602 } }]);
    }
    expect(await rig.front.threads.get('foreign')).toEqual(before);
  });

  test('a key for one agent sees only its tool, and no thread in which another has run', async () => {
    const { client, call, read } = await connect({ agents: ['triage'] });
    const own = (name: string) => name.startsWith('lanefold_');
    expect((await client.listTools()).tools.map(({ name }) => name).filter((name) => !own(name))).toEqual(['triage']);
    expect(runOf(await call('triage', { message: 'x' }))).toMatchObject({ status: 'completed' });
    expect(errorOf(await call('echo', { message: 'x' })).code).toBe('forbidden');
    expect(errorOf(await call('lanefold_start_run', { agent: 'echo', message: 'x' })).code).toBe('forbidden');
    expect(errorOf(await call('lanefold_run_result', nameOf(shared))).code).toBe('forbidden');
    await expect(read('lanefold://threads/shared')).rejects.toMatchObject({
      code: -32602,
      data: { code: 'forbidden' },
    });
    expect((await client.listResources()).resources).toEqual([]);
  });

  test('a key for some threads works in them, and needs their ids', async () => {
    const { call } = await connect({ threadPrefix: 'desk-' });
    expect(errorOf(await call('echo', { message: 'x' })).message).toContain('desk-');
    const mine = await call('echo', { message: 'x', thread_id: 'desk-1', create_thread: true });
    expect(runOf(mine)).toMatchObject({ thread_id: 'desk-1', status: 'completed' });
    expect(errorOf(await call('lanefold_run_result', nameOf(shared))).code).toBe('forbidden');
  });

  test('a token of one thread reads no other', async () => {
    const { token } = await rig.front.keys.browserToken({ threadId: 'shared', access: 'chat' });
    const client = await newClient(rig.url, { key: token });
    const call = (name: string, args: object) => client.callTool({ name, arguments: args as never });
    expect(runOf(await call('lanefold_run_result', nameOf(shared)))).toMatchObject({ status: 'completed' });
    expect(errorOf(await call('lanefold_run_result', nameOf(foreign))).code).toBe('forbidden');
    expect(runOf(await call('echo', { message: 'x', thread_id: 'shared' }))).toMatchObject({ thread_id: 'shared' });
    expect(errorOf(await call('echo', { message: 'x' })).code).toBe('forbidden');
    await expect(client.readResource({ uri: 'lanefold://threads/shared/contexts/default' })).rejects.toMatchObject({
      data: { code: 'forbidden' },
    });
    expect((await client.listResources()).resources).toEqual([]);
  });

  test('a key that lacks a scope is told which', async () => {
    const { call } = await connect({ scopes: ['read'] });
    expect(errorOf(await call('echo', { message: 'x' })).message).toContain('run');
    const { call: asks } = await connect({ scopes: ['read', 'run'] });
    const decision = { ...nameOf(shared), call: '1.0', decision: 'approve' };
    expect(errorOf(await asks('lanefold_decide', decision)).message).toContain('approve');
    expect(errorOf(await asks('lanefold_cancel', nameOf(shared))).message).toContain('steer');
  });

  test('the limits of a key hold, and two keys may use the same request_id', async () => {
    const { call } = await connect({ limits: { runs: 1 } });
    await call('lanefold_start_run', { agent: 'typist', message: 'x' });
    const keys = await rig.model.next();
    expect(errorOf(await call('echo', { message: 'x' })).code).toBe('rate_limited');
    keys.stop();
    const request = { message: 'hello', request_id: 'first' };
    const [one, two] = await Promise.all([connect({}), connect({})]);
    const first = runOf(await one.call('echo', request));
    const second = runOf(await two.call('echo', request));
    expect(second.thread_id).not.toBe(first.thread_id);
    expect(runOf(await one.call('echo', request))).toEqual(first);
    // without a stream to wait on, a call answers at once, and nothing is lost
    const few = await connect({ limits: { streams: 1 } });
    const calls = ['one', 'two'].map((message) => few.call('typist', { message }));
    const answer = await Promise.race(calls);
    expect(answer.isError).toBeFalsy();
    expect(textOf(answer)).toContain('lanefold_run_result');
    for (const _ of calls) (await rig.model.next()).stop();
    await Promise.all(calls);
  });

  test('a limit that ends the wait leaves the run, and the error names it', async () => {
    const { call } = await connect({ limits: { requestsPerMinute: 2 } });
    const error = errorOf(await call('typist', { message: 'x' })) as unknown as {
      code: string;
      thread_id: string;
      run_id: string;
    };
    expect(error.code).toBe('rate_limited');
    (await rig.model.next()).stop();
    const run = await rig.front.runs.wait({ threadId: error.thread_id, id: error.run_id });
    expect(run.status).toBe('completed');
  });

  /** What a handler in a server of one’s own answers to `tools/list`. */
  const listAt = async (handler: McpHandler, { host = 'localhost', key }: { host?: string; key?: string }) => {
    const params = { _meta: envelope({}) };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
      host,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
    const response = await handler(new Request('https://shop.example/agents/mcp', { method: 'POST', headers, body }));
    const { result } = (await response.json()) as { result?: { tools: { name: string }[] } };
    return { status: response.status, tools: result?.tools.map(({ name }) => name) };
  };

  test('a handler in a server of one’s own needs a key, whatever Host a request claims', async () => {
    const { key } = await rig.front.keys.create({ name: 'k', scopes: ['read', 'run'], agents: ['echo'] });
    const handler = createMcpHandler(rig.front, { agents: ['echo', 'triage'] });
    for (const host of ['localhost', '127.0.0.1', 'shop.example']) {
      expect([host, (await listAt(handler, { host })).status]).toEqual([host, 401]);
      expect([host, (await listAt(handler, { host, key: 'made up' })).status]).toEqual([host, 401]);
      const { status, tools } = await listAt(handler, { host, key });
      expect([host, status, tools![0], tools!.includes('triage')]).toEqual([host, 200, 'echo', false]);
    }
    vi.stubEnv('LANEFOLD_API_KEY', 'of-the-environment');
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const requireKey of [true, false]) {
      const keyed = createMcpHandler(rig.front, { requireKey });
      expect((await listAt(keyed, {})).status).toBe(401);
      expect((await listAt(keyed, { key: 'of-the-environment' })).tools).toContain('triage');
    }
  });

  test('a handler answers without a key only if it is told to, and then only to loopback', async () => {
    const open = createMcpHandler(rig.front, { requireKey: false });
    expect((await listAt(open, {})).tools).toContain('triage');
    expect((await listAt(open, { host: 'shop.example' })).status).toBe(403);
  });

  test('a server on a transport of one’s own checks its key', async () => {
    const { key } = await rig.front.keys.create({ name: 'k', scopes: ['read', 'run'], agents: ['echo'] });
    const client = new Client({ name: 'judge', version: '1' });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([createMcpServer(rig.front, { apiKey: key }).connect(far), client.connect(near)]);
    onTestFinished(() => client.close());
    const refused = await client.callTool({ name: 'triage', arguments: { message: 'x' } });
    expect(errorOf(refused).code).toBe('forbidden');
    const stranger = new Client({ name: 'judge', version: '1' });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await Promise.all([createMcpServer(rig.front, { apiKey: 'made up' }).connect(there), stranger.connect(here)]);
    onTestFinished(() => stranger.close());
    expect(errorOf(await stranger.callTool({ name: 'echo', arguments: { message: 'x' } })).code).toBe('unauthorized');
  });

  test('options that mean nothing are refused', async () => {
    const { front } = rig;
    expect(() => createMcpServer(front, { agents: ['stranger'] })).toThrow(
      expect.objectContaining({ code: 'unknown_agent' }),
    );
    expect(() => createMcpServer(front, { waitMs: -1 })).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    const unknown = [
      () => createMcpServer(front, { wait: 1 } as never),
      () => createMcpServer(front, { requireKey: false } as never),
      () => createMcpHandler(front, { apiKey: 'lfk_' } as never),
      () => front.startServer({ port: 0, mcp: mountMcp({ requireKey: false } as never) }),
    ];
    for (const create of unknown)
      await expect((async () => create())()).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
