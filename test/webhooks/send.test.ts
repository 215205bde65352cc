import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../../src/runtime/webhooks/send.ts';
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
