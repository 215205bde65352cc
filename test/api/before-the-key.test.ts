// @module-tag slow
import net from 'node:net';
import { createAgUiHandler } from 'lanefold/ag-ui';
import { createChatHandler } from 'lanefold/chat';
import { mountMcp } from 'lanefold/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/doors/app.ts';
import { openLogger } from '../support/lines.ts';
import { deferred, until } from '../support/until.ts';
import { bearer, startApi, type Api } from './helpers.ts';

/** Needs no key: probes, the page and its files. All else is refused, or is not there without its key. */
const open = ['GET /healthz', 'GET /readyz', 'GET /', 'GET /page/:file'];

describe('before the credential of a request', () => {
  let api: Api;
  const { lines, logger } = openLogger();
  const sockets: net.Socket[] = [];
  // a server that reads a byte of any body answers 503
  const server = { apiKey: 'root', maxHeldBytes: 1, mcp: mountMcp() };
  beforeAll(async () => {
    api = await startApi({ worker: false, logger, tokenSecrets: ['s'.repeat(32)], server });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await api?.close();
  });

  /** Sends a request and the beginning of its body, the rest of which never comes. */
  const begin = (method: string, path: string, headers: Record<string, string> = {}) => {
    const socket = net.connect(api.server.port, '127.0.0.1');
    sockets.push(socket);
    const answered = deferred<string>();
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      const status = /^HTTP\/1.1 (\d+)/.exec((said += text))?.[1];
      if (status) answered.resolve(status);
    });
    socket.on('error', () => {});
    const given = { host: '127.0.0.1', 'content-type': 'application/json', 'content-length': '1000000', ...headers };
    const head = Object.entries(given).map(([name, value]) => `${name}: ${value}`);
    socket.write(`${[`${method} ${path} HTTP/1.1`, ...head].join('\r\n')}\r\n\r\n{"a":`);
    return { socket, status: () => answered.promise };
  };

  const routes = () => {
    const { routes } = createApp(api.lanefold, server);
    const own = routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
    return [...new Set(own)].sort();
  };
  const pathOf = (route: string) =>
    route
      .split(' ')[1]!
      .replaceAll(/:\w+(\{[^}]*\})?\??/g, 'x')
      .replaceAll('*', 'x');

  test('no route reads a byte of its body', async () => {
    const known = routes();
    // of every kind: the API, streams, signed paths, MCP, AG-UI, Bull Board
    for (const some of ['POST /v1/threads', 'POST /signed/events/:token', 'POST /mcp', 'POST /v1/ag-ui/:agent'])
      expect(known).toContain(some);
    expect(known.some((route) => route.startsWith('PUT /admin/queues/'))).toBe(true);
    const answers = await Promise.all(
      known.map(async (route) => {
        const { status, socket } = begin(route.split(' ')[0]!, pathOf(route), bearer('wrong'));
        const answer = `${route} ${await status()}`;
        socket.destroy();
        return answer;
      }),
    );
    const closed = known.filter((route) => !open.includes(route) && !route.startsWith('OPTIONS '));
    const expected = (route: string) => (route === 'POST /signed/events/:token' ? '400' : '401');
    expect(answers.filter((route) => closed.some((each) => route.startsWith(`${each} `)))).toEqual(
      closed.map((route) => `${route} ${expected(route)}`),
    );
    // the others answer as well, without the body
    expect(answers.length - closed.length).toBe(open.length + 2);
    expect(answers.filter((route) => / [45]\d\d$/.test(route) && !/ 40[014]$/.test(route))).toEqual([]);
  });

  test('nor of a key that may not do what it asks for', async () => {
    const [reader, approver] = await Promise.all(
      (['read', 'approve'] as const).map((scope) => api.lanefold.keys.create({ name: scope, scopes: [scope] })),
    );
    const writing = routes().filter((route) => /^(POST|PUT|PATCH|DELETE) \/v1\//.test(route));
    expect(writing.length).toBeGreaterThan(50);
    const answers = await Promise.all(
      writing.map(async (route) => {
        const key = /\/(approve|deny)$/.test(route) ? reader! : approver!;
        const { status, socket } = begin(route.split(' ')[0]!, pathOf(route), bearer(key.key));
        const answer = `${route} ${await status()}`;
        socket.destroy();
        return answer;
      }),
    );
    expect(answers).toEqual(writing.map((route) => `${route} 403`));
  });

  test('the bodies of strangers take no room from those of callers', async () => {
    const strangers = Array.from({ length: 16 }, () => begin('POST', '/signed/events/x'));
    expect(await Promise.all(strangers.map(({ status }) => status()))).toEqual(Array(16).fill('400'));
    expect((await api.call('POST', '/v1/threads', undefined, bearer('root'))).status).toBe(201);
  });

  test('one tenant, or one key, leaves room for the others', async () => {
    const mib = 1024 * 1024;
    const own = { port: 0, apiKey: 'root', maxHeldBytes: 2 * mib, maxStreams: 8, onError: () => {} };
    const { port, url } = await api.lanefold.startServer(own);
    const keyOf = async (tenant: string) => {
      const scopes = ['read', 'run'] as const;
      return bearer((await api.lanefold.keys.create({ name: tenant, tenant, scopes: [...scopes] })).key);
    };
    const [a, b] = [await keyOf('a'), await keyOf('b')];
    const token = await api.lanefold.events.token('paid');
    const bodies = (path: string, headers: Record<string, string>) =>
      Array.from({ length: 60 }, () => {
        const socket = net.connect(port, '127.0.0.1').on('error', () => {});
        sockets.push(socket);
        let said = '';
        socket.setEncoding('utf8').on('data', (text: string) => (said += text));
        const head = Object.entries({ host: '127.0.0.1', 'content-type': 'application/json', ...headers });
        const lines = head.map(([name, value]) => `${name}: ${value}`).join('\r\n');
        socket.write(`POST ${path} HTTP/1.1\r\n${lines}\r\ncontent-length: 1000000\r\n\r\n${' '.repeat(60_000)}`);
        return { socket, status: () => /^HTTP\/1.1 (\d+)/.exec(said)?.[1] };
      });
    const large = (headers: Record<string, string>) =>
      fetch(`${url}/v1/threads`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { x: 'x'.repeat(10) } }).padEnd(400_000),
      });
    for (const [path, headers] of [
      ['/v1/threads', a],
      [`/signed/events/${token}`, {}],
    ] as const) {
      const begun = bodies(path, headers);
      await until('it has no more room', () => begun.filter(({ status }) => status() === '503').length >= 20);
      expect((await large(b)).status).toBe(201);
      for (const { socket } of begun) socket.destroy();
    }
    await until('the room is back', async () => (await large(a)).status === 201);
    const { id } = (await (await large(a)).json()) as { id: string };
    const { id: other } = (await (await large(b)).json()) as { id: string };
    const left = new AbortController();
    const stream = async (thread: string, headers: Record<string, string>) =>
      (
        await fetch(`${url}/v1/threads/${thread}/events`, {
          headers: { ...headers, accept: 'text/event-stream' },
          signal: left.signal,
        })
      ).status;
    const opened = [];
    for (let n = 0; n < 6; n++) opened.push(await stream(id, a));
    expect(opened).toEqual([200, 200, 200, 200, 503, 503]);
    expect(await stream(other, b)).toBe(200);
    left.abort();
  });

  test('the handlers of AG-UI and of chats ask first, and then read', async () => {
    const asked: string[] = [];
    const request = (headers: Record<string, string> = {}) => {
      const body = new ReadableStream({ pull: () => void asked.push('body') }, { highWaterMark: 0 });
      const init = {
        method: 'POST',
        body,
        duplex: 'half',
        headers: { 'content-type': 'application/json', ...headers },
      };
      return new Request('http://127.0.0.1/api', init as RequestInit);
    };
    const verdicts = [null, undefined, false, {}, new Response(null, { status: 401 })] as const;
    for (const verdict of verdicts) {
      const authorize = () => {
        asked.push('authorize');
        return verdict as never;
      };
      for (const create of [createChatHandler, createAgUiHandler]) {
        const { status } = await create(api.lanefold, { agent: 'calc', authorize })(request());
        expect(status).toBe(verdict instanceof Response ? 401 : 403);
      }
    }
    expect(asked).toEqual(Array(verdicts.length * 2).fill('authorize'));
  });

  test('a cut connection leaves no token in the log, and not a line each', async () => {
    const token = await api.lanefold.events.token('paid');
    const { port } = await api.lanefold.startServer({ port: 0, apiKey: 'root' });
    const count = 60;
    const before = lines.length;
    const url = `http://127.0.0.1:${port}`;
    for (let at = 0; at < count; at += 30) {
      const cut = Array.from({ length: 30 }, (_, i) => {
        const socket = net.connect(port, '127.0.0.1').on('error', () => {});
        const path = [`/signed/events/${token}`, `/v1/threads?api_key=${token}`][i % 2]!;
        const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer root\r\n`;
        socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":`);
        return socket;
      });
      const waiting = () => cut.every(({ bytesWritten }) => bytesWritten > 0);
      await until('the bodies have begun', waiting);
      for (const socket of cut) socket.resetAndDestroy();
    }
    const counted = async () => {
      const text = await (await fetch(`${url}/metrics`, { headers: bearer('root') })).text();
      const numbers = [...text.matchAll(/^\S*requests\S*\{[^}]*status="400"[^}]*\} (\d+)/gm)].map(([, n]) => Number(n));
      return numbers.reduce((sum, n) => sum + n, 0) >= count;
    };
    await until('every cut request has been answered', counted);
    expect(lines.slice(before).length).toBeLessThanOrEqual(count);
    expect(lines.join('\n')).not.toContain(token.split('.')[2]!);
    expect(lines.filter((line) => /"level":"?(error|50)/.test(line))).toEqual([]);
  });

  test('an error behind a path with a credential is logged without it', async () => {
    const token = await api.lanefold.events.token('paid');
    const seen: string[] = [];
    const broken = {
      ...api.lanefold,
      events: { ...api.lanefold.events, checkToken: () => Promise.reject(new Error('out of order')) },
    };
    const onError = (_: unknown, { path }: { path: string }) => void seen.push(path);
    for (const given of [{ onError }, {}]) {
      const app = createApp(broken, { apiKey: 'root', ...given });
      for (const path of [token, encodeURIComponent(token).replaceAll('.', '%2E')]) {
        const answer = await app.request(`http://127.0.0.1/signed/events/${path}`, { method: 'POST' });
        expect(answer.status).toBe(500);
      }
    }
    expect(seen).toEqual(['/signed/events/[redacted]', '/signed/events/[redacted]']);
    expect(lines.join('\n')).toContain('/signed/events/[redacted]');
    expect(lines.join('\n')).not.toContain(token.split('.')[2]!);
  });
});
