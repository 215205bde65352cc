// @module-tag slow
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { newClient, oldClient, startRig, type Rig } from './rig.ts';
import { envelope, rawRequest } from './tasks-client.ts';

const mib = 1024 * 1024;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({}, { maxBodyBytes: 100_000, maxHeldBytes: mib });
  await rig.work();
});
afterAll(() => rig?.close());

describe('messages that no client should send, over HTTP', () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(rig.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
    const text = await response.text();
    const json = text.startsWith('event:') ? text.split('data: ')[1]! : text;
    return {
      status: response.status,
      body: (json === '' ? undefined : JSON.parse(json)) as { error?: { code: number } },
    };
  };

  test('malformed JSON and malformed JSON-RPC are errors of the protocol', async () => {
    expect(await post('{"jsonrpc":')).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    expect(await post('{}')).toMatchObject({ status: 400, body: { error: { code: expect.any(Number) as number } } });
    expect(await post('[]')).toMatchObject({ status: 400, body: { error: { code: expect.any(Number) as number } } });
    expect(await post('"hello"')).toMatchObject({ status: 400 });
    expect(await post('{}', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
    const unknown = await rawRequest(rig.url, { method: 'tools/eat', params: { _meta: envelope() } });
    expect(unknown).toMatchObject({ error: { code: -32601 } });
    const future = { ...envelope(), 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
    expect(await rawRequest(rig.url, { method: 'tools/list', params: { _meta: future } })).toHaveProperty('error');
    expect(await rawRequest(rig.url, { method: 'tools/call', params: { _meta: envelope() } })).toMatchObject({
      error: { code: -32602 },
    });
  });

  test('a huge message is refused before it is read', async () => {
    const huge = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(200_000) } });
    expect(await post(huge)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":${deep}}}}`;
    expect(await post(call)).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
  });

  test('there are no sessions, and no MCP where it is not asked for', async () => {
    for (const method of ['GET', 'DELETE']) expect((await fetch(rig.url, { method })).status).toBe(405);
    expect((await fetch(rig.url, { method: 'PUT' })).status).toBe(405);
    const plain = await rig.front.startServer({ port: 0 });
    expect((await fetch(`${plain.url}/mcp`, { method: 'POST' })).status).toBe(404);
  });

  test('a page of another site cannot call it', async () => {
    const refused = await post('{}', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden_origin' } });
  });
});

describe('the memory that answers to MCP clients fill', () => {
  const large = 'lanefold://threads/large/contexts/default';
  beforeAll(async () => {
    const ask = async (threadId: string, chars: number) => {
      const run = { agent: 'echo', input: 'x'.repeat(chars), threadId, createThread: true };
      await rig.front.runs.wait(await rig.front.runs.enqueue(run));
    };
    // the answer repeats the question; of two such contexts, one fits
    await ask('large', 300_000);
    await ask('huge', 2.2 * mib);
  });

  const read = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: large } };
  const requests: [string, string, object | undefined, Record<string, string>][] = [
    [
      'an answer of 2026-07-28',
      'POST /mcp',
      { ...read, params: { uri: large, _meta: envelope({}) } },
      { 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': 'resources/read', 'Mcp-Name': large },
    ],
    ['an answer of an earlier revision', 'POST /mcp', read, { 'Mcp-Protocol-Version': '2025-11-25' }],
    ['an answer of the API', 'GET /v1/threads/large/contexts/default', undefined, {}],
  ];

  test.each(requests)('%s is counted until its connection has taken it or ended', async (_, line, json, more) => {
    const client = await newClient(rig.url);
    const old = await oldClient(rig.url);
    const code = () =>
      client.readResource({ uri: large }).then(
        () => 'read',
        (error: { data?: { code?: string } }) => error.data?.code,
      );
    expect(await code()).toBe('read');
    // a connection takes its answers in order, so the second one stays behind a stream that does not end
    const socket = net.connect(rig.server.port, '127.0.0.1');
    try {
      const body = json ? JSON.stringify(json) : '';
      const head = (line: string, fields: Record<string, string | number>) =>
        `${line} HTTP/1.1\r\n${Object.entries({ Host: '127.0.0.1', ...fields })
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n`;
      const type: Record<string, string | number> = json
        ? { 'Content-Type': 'application/json', 'Content-Length': body.length }
        : {};
      socket.write(
        head('GET /v1/threads/large/events', { Accept: 'text/event-stream' }) +
          head(line, { Accept: json ? 'application/json, text/event-stream' : 'application/json', ...type, ...more }) +
          body,
      );
      await until('the answer fills the memory', async () => (await code()) === 'server_busy');
      await expect(old.readResource({ uri: large })).rejects.toMatchObject({ data: { code: 'server_busy' } });
    } finally {
      socket.destroy();
    }
    await until('there is room again', async () => (await code()) === 'read');
  });

  test('a resource of more than 4 MiB is read over HTTP', async () => {
    const client = await newClient(rig.url);
    const path = '/v1/threads/huge/contexts/default';
    await expect(client.readResource({ uri: 'lanefold://threads/huge/contexts/default' })).rejects.toMatchObject({
      data: { code: 'resource_too_large', hint: `Read it over HTTP: GET ${path}` },
    });
    const { status } = await fetch(new URL(path, rig.url));
    expect(status).toBe(200);
  });
});
