import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../../src/features/webhooks/worker/send.ts';
import { startReceiver, type Receiver } from './receiver.ts';

let receiver: Receiver;
beforeAll(async () => void (receiver = await startReceiver()));
afterAll(() => receiver?.close());
const post = (url: string, more = {}) => send(url, '{}', {}, { anywhere: true, timeoutMs: 2_000, ...more });

test('a request goes to the address that was checked, whatever its name means elsewhere', async () => {
  const { port } = new URL(receiver.url);
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const end = await post(`http://rebinding.invalid:${port}/pinned`, { resolve });
  expect(end).toMatchObject({ delivered: true, statusCode: 200 });
  expect(receiver.at('/pinned')[0]!.headers.host).toBe(`rebinding.invalid:${port}`);
});

test('a connection is kept for the addresses that were checked, and for no others', async () => {
  const connections: Socket[] = [];
  const server = createPlainServer((request, response) => request.resume().on('end', () => response.end('ok')));
  server.on('connection', (socket: Socket) => connections.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const to = (address: string) =>
    post(`http://moves.invalid:${port}/`, { resolve: async () => [{ address, family: 4 }] });
  expect(await to('127.0.0.1')).toMatchObject({ delivered: true, answer: 'ok' });
  expect(await to('127.0.0.1')).toMatchObject({ delivered: true, answer: 'ok' });
  expect(connections).toHaveLength(1);
  // nothing listens there
  expect(await to('127.0.0.2')).toMatchObject({ error: { code: 'connection' } });
  expect(connections).toHaveLength(1);
  server.close();
  for (const socket of connections) socket.destroy();
});

test('a kept connection that the receiver has ended meanwhile says nothing about the receiver', async () => {
  let answers = true;
  const server = createPlainServer((request, response) => {
    if (answers) request.resume().on('end', () => response.end());
    else response.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await post(url)).toMatchObject({ delivered: true });
  answers = false;
  expect(await post(url)).toBeUndefined();
  // on a connection of its own it is a failure
  expect(await post(url)).toMatchObject({ error: { code: 'connection' } });
  server.close();
});

test('nothing is sent to a private address, also if the URL was stored before', async () => {
  const end = await post(receiver.url.replace('http:', 'https:'), { anywhere: false });
  expect(end).toMatchObject({ delivered: false, error: { code: 'private_address' } });
  expect(await post(receiver.url, { anywhere: false })).toMatchObject({ error: { code: 'invalid_url' } });
});

test('a name server that does not answer costs no more than the time limit', async () => {
  const end = await post('http://slow.example/', { timeoutMs: 100, resolve: () => new Promise(() => {}) });
  expect(end).toMatchObject({ delivered: false, error: { code: 'timeout' } });
});

test('of an answer without end, the beginning is kept', async () => {
  receiver.respond = (_, response) => void response.writeHead(200).write('x'.repeat(5_000));
  expect(await post(receiver.url)).toMatchObject({ delivered: true, answer: 'x'.repeat(1_024) });
  receiver.respond = (_, response) => void response.writeHead(200).write('so far');
  expect(await post(receiver.url)).toMatchObject({ delivered: true, answer: 'so far' });
});

test('what of the URL may be secret is in no answer and no redirect of the receiver', async () => {
  const path = '/hooks/T0/s3cret-of-acme';
  const url = `${receiver.url}${path}?token=k%C3%B6nigsgeheimnis`;
  receiver.respond = (request, response) => void response.writeHead(404).end(`Cannot POST ${request.path}`);
  expect(await post(url)).toMatchObject({ statusCode: 404, answer: 'Cannot POST …' });
  receiver.respond = (_, response) =>
    void response.writeHead(404).end(JSON.stringify({ of: 's3cret-of-acme', token: 'königsgeheimnis' }));
  expect(await post(url)).toMatchObject({ answer: '{"of":"…","token":"…"}' });
  // also where the text that is kept ends
  receiver.respond = (request, response) => void response.writeHead(200).end(`${'x'.repeat(1_010)}${request.path}`);
  expect((await post(url))!.answer).toBe(`${'x'.repeat(1_010)}…`);
  for (const location of [`${path}/?token=k%C3%B6nigsgeheimnis`, `https://example.com${path}/`]) {
    receiver.respond = (_, response) => void response.writeHead(308, { location }).end();
    const { error } = (await post(url))!;
    expect(error).toMatchObject({ code: 'redirect', message: expect.stringContaining('redirects to') as string });
    expect(error!.message).not.toMatch(/s3cret|geheimnis/);
  }
  receiver.respond = (_, response) => void response.writeHead(200).end('<a href="/a">ok</a>');
  expect(await post(`${receiver.url}/a`)).toMatchObject({ answer: '<a href="/a">ok</a>' });
});

test('a closed port is named', async () => {
  const other = await startReceiver();
  await other.close();
  expect(await post(other.url)).toMatchObject({
    error: { code: 'connection', message: 'The receiver refused the connection (ECONNREFUSED).' },
  });
});

test('a certificate that is not accepted is named, and so is a server without TLS', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name)) as [string, string];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.end());
  rmSync(folder, { recursive: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await post(`https://127.0.0.1:${port}/`)).toMatchObject({
    delivered: false,
    error: { code: 'certificate', message: expect.stringContaining('self-signed') as string },
  });
  server.close();
  expect(await post(receiver.url.replace('http:', 'https:'))).toMatchObject({ error: { code: 'tls' } });
});
