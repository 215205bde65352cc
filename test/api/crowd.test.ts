// @module-tag long
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCli, type CliProcess } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const clients = 1_000;
const mebibyte = 2 ** 20;
/** The limit of one body: 100 clients send that much each, and 250 ask for it. */
const bodyBytes = 4 * mebibyte;
const key = { authorization: 'Bearer k', 'content-type': 'application/json' };

describe.skipIf(process.platform !== 'linux')('a server of its own, with a thousand hostile clients', () => {
  let database: TestDatabase;
  let api: CliProcess;
  let url: URL;
  const sockets: net.Socket[] = [];
  beforeAll(async () => {
    database = await createDatabase();
    api = startCli(['api', '--port', '0'], { env: { DATABASE_URL: database.url, LANEFOLD_API_KEY: 'k' } });
    url = new URL(/http:\/\/[\d.:]+/.exec(await api.says('stderr', 'http://'))![0]);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    api?.process.kill();
    await api?.ended;
    await database?.drop();
  });

  const ask = (path: string, body?: unknown) =>
    fetch(new URL(path, url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: key,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const memory = (field: 'VmRSS' | 'VmHWM') =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${api.process.pid}/status`, 'utf8'))![1]) / 1_024;
  const connect = (): Promise<net.Socket> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(Number(url.port), url.hostname, () => resolve(socket));
      sockets.push(socket.once('error', reject).on('error', () => {}));
    });
  const head = (method: string, path: string, more: string) =>
    `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer k\r\n${more}\r\n`;
  const posts = (bytes: number) =>
    head('POST', '/v1/threads/t/entries', `content-type: application/json\r\ncontent-length: ${bytes}\r\n`);

  test('keeps its memory within bounds and answers everybody else', async () => {
    expect((await ask('/v1/threads', { id: 't' })).status).toBe(201);
    const message = { kind: 'ai_message', payload: { role: 'user', content: 'x'.repeat(500_000) } };
    for (let n = 0; n < 8; n++) {
      expect((await ask('/v1/threads/t/entries', { entries: [message] })).status).toBe(201);
    }
    const before = memory('VmRSS');
    const body = Buffer.alloc(bodyBytes - 1, ' ');
    const silent = () => {};
    const slow = (socket: net.Socket) => socket.write(`${posts(bodyBytes)}{"entries"`);
    // all of it but the last byte, so that nothing is ever complete
    const huge = (socket: net.Socket) => socket.write(Buffer.concat([Buffer.from(posts(bodyBytes)), body]));
    // asks for 4 MB and reads none of it
    const deaf = (socket: net.Socket) => socket.pause().write(head('GET', '/v1/threads/t/entries?limit=1000', ''));
    const kinds = [huge, huge, deaf, deaf, deaf, deaf, deaf, slow, slow, slow, silent, silent];
    const answers = new Map<net.Socket, string>();
    const huges: net.Socket[] = [];
    for (let n = 0; n < clients; n++) {
      const socket = await connect();
      const kind = kinds[n % 20] ?? silent;
      if (kind === huge) huges.push(socket.once('data', (data) => answers.set(socket, data.toString())));
      if (kind !== deaf) socket.resume();
      kind(socket);
    }
    // how many are beyond the budget at once depends on how fast they send: the others time out
    await until('every body that never ends is refused', () =>
      huges.every((socket) => answers.has(socket) || socket.closed),
    );
    const statuses = new Set([...answers.values()].map((answer) => answer.slice(0, 'HTTP/1.1 503'.length)));
    expect(statuses).toContain('HTTP/1.1 503');
    for (const status of statuses) expect(['HTTP/1.1 503', 'HTTP/1.1 408']).toContain(status);
    for (let n = 0; n < 20; n++) expect((await ask('/v1/threads/t')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    // clients that leave while the server reads for them hold nothing either
    for (let round = 0; round < 3; round++) {
      const leaving = await Promise.all(Array.from({ length: 20 }, connect));
      for (const socket of leaving)
        socket.write(head('GET', '/v1/threads/t/entries?limit=1000', ''), () => socket.destroy());
      await until('there is room for a large answer', async () => (await ask('/v1/threads/t/entries?limit=1000')).ok);
    }
    const grown = memory('VmHWM') - before;
    console.log(`${clients} clients: ${before.toFixed(0)} MiB before, ${grown.toFixed(0)} MiB more at most`);
    // without limits on what is sent and taken it grew by 2,400
    expect(grown).toBeLessThan(1_000);
  });
});
