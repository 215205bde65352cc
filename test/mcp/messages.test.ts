import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRig, type Rig } from './rig.ts';
import { envelope, rawRequest } from './tasks-client.ts';

describe('messages that no client should send, over HTTP', () => {
  let rig: Rig;
  beforeAll(async () => void (rig = await startRig({}, { maxBodyBytes: 100_000 })));
  afterAll(() => rig?.close());

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
