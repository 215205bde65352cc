import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { newClient, oldClient, startRig, type Rig } from './rig.ts';
import { envelope } from './tasks-client.ts';

const mib = 1024 * 1024;

describe('the memory that answers to MCP clients fill', () => {
  let rig: Rig;
  const large = 'lanefold://threads/large/contexts/default';
  beforeAll(async () => {
    rig = await startRig({}, { maxHeldBytes: mib });
    await rig.work();
    const ask = async (threadId: string, chars: number) => {
      const run = { agent: 'echo', input: 'x'.repeat(chars), threadId, createThread: true };
      await rig.front.runs.wait(await rig.front.runs.enqueue(run));
    };
    // the answer repeats the question; of two such contexts, one fits
    await ask('large', 300_000);
    await ask('huge', 2.2 * mib);
  });
  afterAll(() => rig?.close());

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
