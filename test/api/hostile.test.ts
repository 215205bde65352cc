// @module-tag slow
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../support/cases.ts';
import { operationsOf, resolved, type OpenApi, type Operation } from './document.ts';
import { startApi, type Api } from './helpers.ts';

const huge = 'x'.repeat(100_000);
const deep = JSON.parse(`${'['.repeat(90)}${']'.repeat(90)}`) as unknown;

/** Values for any field as JSON text, some of it invalid. */
const values = [
  'null',
  'true',
  '-1',
  '0',
  '1e308',
  '1e999',
  '9007199254740993',
  '-0.5',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"../../etc/passwd"',
  `"${huge}"`,
  '"\u202e\u{1f986}"',
  '"scripted:[\\"\\\\u0000\\"]"',
  '"fast"',
  '"openai:gpt"',
  '[]',
  '[null]',
  '[[]]',
  '{}',
  '{"$ne":null}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":1}}',
  '[{"type":"text"}]',
  '[{"type":"file","media_type":"x","url":"file:///etc/passwd"}]',
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  JSON.stringify(deep),
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  'NaN',
  "'x'",
  '',
];

const bodies: [string, Record<string, string>][] = [
  ['', {}],
  ['{', {}],
  ['[]', {}],
  ['null', {}],
  ['"x"', {}],
  ['7', {}],
  ['{"__proto__":{"id":"x"}}', {}],
  ['{"a":1}', {}],
  ['\ufeff{}', {}],
  ['{"id":"a","id":{}}', {}],
  ['[['.repeat(50_000), {}],
  ['{}', { 'content-type': 'text/html' }],
  ['{}', { 'content-type': '' }],
  ['{}', { 'content-type': 'application/json; charset=latin1' }],
  ['{}', { 'content-encoding': 'br' }],
  ['a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['--x', { 'content-type': 'multipart/form-data; boundary=x' }],
];

const ids = [
  '..%2f..%2fetc',
  '%00',
  '%',
  '%zz',
  '%ff%fe',
  '%ud800',
  '-',
  "'%20or%201=1--",
  '%0d%0aSet-Cookie:%20a=b',
  'a'.repeat(5_000),
  '%7b%7d',
  '*',
  '$',
  'null',
  '__proto__',
];
const queries = [
  '%',
  '%00',
  '-1',
  '1e9',
  '99999999999999999999',
  '',
  '%ff',
  'null',
  "'",
  '[]',
  'a'.repeat(5_000),
  '1&limit=2',
  '%F0%9F%A6%86',
];

/** Of what is sent to an operation, a change tries one of so many, of each operation others; a release all. */
const every = Math.ceil(3 / cases(1));

interface Sent {
  method: string;
  path: string;
  body?: string;
  headers?: Record<string, string>;
}

describe('hostile requests', () => {
  let api: Api;
  let document: OpenApi;
  const faults: unknown[] = [];
  beforeAll(async () => {
    api = await startApi({ worker: false, server: { onError: (error) => faults.push(error) } });
    document = (await api.call('GET', '/openapi.json')).body;
    await api.call('POST', '/v1/threads', { id: 'kept', system_prompt: 'P' });
    await api.call('POST', '/v1/threads', { id: 'victim', system_prompt: 'P' });
    await api.call('POST', '/v1/threads', { id: 'doomed' });
  });
  afterAll(() => api?.close());

  // Sends the URL exactly as written, which fetch would not do.
  const send = ({ method, path, body, headers }: Sent) =>
    new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
      const { port } = api.server;
      const all = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers };
      const request = http.request({ host: '127.0.0.1', port, method, path, headers: all, agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode!, type: answer.headers['content-type'] ?? '', text }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

  function* variants(operation: Operation): Generator<Sent> {
    const { method } = operation;
    const path = (id: string) => operation.path.replaceAll(/\{\w+\}/g, id);
    // Node sends the body of a GET or DELETE without its length, so the server would read it as another request.
    const some = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
    const base = path(method === 'DELETE' ? 'doomed' : 'victim');
    if (operation.path.includes('{')) for (const id of ids) yield { method, path: path(id), ...some };
    for (const parameter of operation.parameters) {
      if (parameter.in === 'query')
        for (const value of queries) yield { method, path: `${base}?${parameter.name}=${value}` };
      if (parameter.in === 'header')
        for (const value of ['', ' ', 'a b', '"', 'x'.repeat(4_000), '\u00ff'])
          yield { method, path: base, ...some, headers: { [parameter.name]: value } };
    }
    for (const query of ['%', '=', '&&', '?', 'x=1', '__proto__=1', '%00=%00'])
      yield { method, path: `${base}?${query}` };
    if (!operation.requestBody) return;
    for (const [body, headers] of bodies) yield { method, path: base, body, headers };
    const schema = resolved(document, operation.requestBody.content['application/json'].schema);
    const example = (schema.example ?? {}) as Record<string, unknown>;
    for (const field of [...Object.keys(schema.properties ?? {}), 'unknown']) {
      const rest = Object.entries({ ...example, id: undefined }).filter(
        ([key, value]) => key !== field && value !== undefined,
      );
      const others = rest.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`).join('');
      for (const value of values) yield { method, path: base, body: `{${others}"${field}":${value}}` };
    }
    // One level deeper: every field of the objects inside the example.
    for (const [field, inner] of nested(example)) {
      for (const value of values)
        yield { method, path: base, body: JSON.stringify(inner).replace(`"${field}"`, value) };
    }
  }

  test('cause no server error in any operation, only errors with a stable code', async () => {
    const codes = new Set((document.components.schemas['Problem']!.properties!['code']!.enum ?? []) as string[]);
    const seen = new Map<string, number>();
    for (const [at, operation] of operationsOf(document).entries()) {
      const wrong: unknown[] = [];
      const all = [...variants(operation)].filter((_, i) => i % every === at % every);
      // a server works for one request at a time
      const atOnce = operation.operationId === 'work' ? 1 : 8;
      for (let i = 0; i < all.length; i += atOnce) {
        const batch = all.slice(i, i + atOnce);
        for (const [k, answer] of (await Promise.all(batch.map(send))).entries()) {
          seen.set(String(answer.status), (seen.get(String(answer.status)) ?? 0) + 1);
          if (answer.status < 400) continue;
          const code =
            answer.type === 'application/problem+json' ? (JSON.parse(answer.text) as { code: string }).code : '';
          if (answer.status >= 500 || !codes.has(code))
            wrong.push({ ...batch[k], answer: { ...answer, text: answer.text.slice(0, 300) } });
        }
      }
      expect(
        wrong.slice(0, 3).map((item) => JSON.stringify(item).slice(0, 600)),
        operation.operationId,
      ).toEqual([]);
    }
    expect(faults).toEqual([]);
    expect(seen.get('400')).toBeGreaterThan(500);
  });

  test('leave other threads unchanged and every log consistent', async () => {
    const { rows } = await api.lanefold.database.pool.query(
      `select t.id, t.rev::int, count(e.seq)::int as entries, coalesce(max(e.seq) + 1, 0)::int as next
       from lanefold.thread t left join lanefold.thread_entry e on e.thread_id = t.id group by t.id, t.rev`,
    );
    for (const row of rows as { rev: number; entries: number; next: number }[])
      expect([row.entries, row.next]).toEqual([row.rev, row.rev]);
    expect((rows as { id: string; rev: number }[]).find((row) => row.id === 'kept')?.rev).toBe(1);
  });

  test('that are not valid HTTP are rejected too', async () => {
    for (const path of ['//evil.example/x', 'http://evil.example/v1/threads/x', '/v1/../../x', '/%c0%ae%c0%ae/']) {
      const answer = await send({ method: 'GET', path });
      expect([path, answer.status < 500 && answer.status >= 400, answer.type]).toEqual([
        path,
        true,
        'application/problem+json',
      ]);
    }
    expect((await send({ method: 'GET', path: '/v1/threads/kept', headers: { host: 'a b' } })).status).toBeLessThan(
      500,
    );
    expect((await send({ method: 'TRACE', path: '/v1/threads/kept' })).status).toBeLessThan(500);
  });
});

/** Copies of an example with one nested string or number replaced by a marker. */
function* nested(example: unknown, path: string[] = []): Generator<[string, unknown]> {
  if (example === null || typeof example !== 'object') {
    if (path.length > 1) yield [path.join('/'), undefined];
    return;
  }
  for (const [key, value] of Object.entries(example)) {
    const inner = Array.isArray(example) ? [...(example as unknown[])] : { ...(example as object) };
    if (path.length > 0) {
      (inner as Record<string, unknown>)[key] = '#';
      yield ['#', inner];
    }
    for (const [mark, deeper] of nested(value, [...path, key])) {
      if (deeper === undefined) continue;
      const copy = Array.isArray(example) ? [...(example as unknown[])] : { ...(example as object) };
      (copy as Record<string, unknown>)[key] = deeper;
      yield [mark, copy];
    }
  }
}
