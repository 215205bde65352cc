import { createAgUiHandler } from 'lanefold/ag-ui';
import { createChatHandler } from 'lanefold/chat';
import { mountMcp } from 'lanefold/mcp';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { maxValues } from '../../src/base/common/json-bytes.ts';
import { maxRequestDepth, outsideStrings } from '../../src/base/common/json.ts';
import { bearer, startApi, type Api } from './helpers.ts';

const size = 256 * 1024;

/** Texts of some hundred KiB that are cheap to send, and dear to parse or to walk through. */
const deep = `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`;
const attacks: Record<string, string> = {
  'deep arrays': deep,
  'deep objects': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  'a bit too deep': `${'['.repeat(300)}${']'.repeat(300)}`,
  'open arrays': '['.repeat(size),
  'tiny values': `[${'0,'.repeat(size / 2)}0]`,
  'tiny keys': `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join(',')}}`,
  'tiny objects': `[${'{},'.repeat(size / 3)}{}]`,
};
const number = '12345678901234567890';

const init = (body: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
});

describe('every door reads JSON with the same reader', () => {
  let api: Api;
  let token: string;
  let doors: Record<string, (value: string) => Promise<Response>>;
  beforeAll(async () => {
    const server = { apiKey: 'root', mcp: mountMcp() };
    api = await startApi({ worker: false, tokenSecrets: ['s'.repeat(32)], server });
    token = await api.lanefold.events.token('paid');
    await api.call('PUT', '/v1/stream/json', '[]', bearer('root'));
    const at = (path: string, wrap: (value: string) => string) => (value: string) => {
      const given = init(wrap(value));
      return fetch(api.url + path, { ...given, headers: { ...given.headers, ...bearer('root') } });
    };
    const grant = () => () => ({ threadId: 'mine' });
    const chat = createChatHandler(api.lanefold, { agent: 'calc', authorize: grant });
    const agUi = createAgUiHandler(api.lanefold, { agent: 'calc', authorize: grant });
    const own =
      (handler: (request: Request) => Promise<Response>, wrap: (value: string) => string) => (value: string) =>
        handler(new Request('http://127.0.0.1/door', init(wrap(value))));
    const call = (value: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"calc","arguments":{"message":${value}}}}`;
    const line = (value: string) =>
      `{"line":1,"type":"thread","version":1,"metadata":${value},"hash":"${'0'.repeat(64)}"}`;
    doors = {
      API: at('/v1/threads', (value) => `{"metadata":{"a":${value}}}`),
      'signed event': at(`/signed/events/${token}`, (value) => value),
      MCP: at('/mcp', call),
      'MCP, a batch': at('/mcp', (value) => `[${call(value)}]`),
      stream: at('/v1/stream/json', (value) => value),
      'AG-UI over HTTP': at('/v1/ag-ui/calc', (value) => `{"threadId":"t","runId":"r","messages":${value}}`),
      'Bull Board': at('/admin/queues/api/queues/x/add', (value) => value),
      import: at('/v1/threads/import', (value) => `{"format":"openai","items":${value}}`),
      'import of lines': at('/v1/threads/import', (value) =>
        JSON.stringify({ format: 'lanefold', lines: [line(value)] }),
      ),
      'chat handler': own(chat, (value) => `{"id":"c","message":${value}}`),
      'AG-UI handler': own(agUi, (value) => `{"threadId":"t","runId":"r","messages":${value}}`),
    };
  });
  afterAll(() => api?.close());
  afterEach(() => vi.restoreAllMocks());

  /** What a JSON text asks of a parser and of those who walk through its value. */
  const sizeOf = (text: string) => {
    let depth = 0;
    let most = 0;
    let values = 1;
    for (const [from, to] of outsideStrings(text)) {
      for (const char of text.slice(from, to)) {
        if (char === '[' || char === '{') most = Math.max(most, ++depth);
        else if (char === ']' || char === '}') depth -= 1;
        if (char === ',' || char === '[' || char === '{') values += 1;
      }
    }
    return { depth: most, values };
  };

  test.each(Object.keys(attacks))('%s are refused before anything parses them', async (attack) => {
    const parse = vi.spyOn(JSON, 'parse');
    for (const [door, send] of Object.entries(doors)) {
      parse.mockClear();
      const answer = await send(attacks[attack]!);
      const text = await answer.text();
      expect([door, answer.status, text]).toEqual([door, expect.toSatisfy(isRefusal), expect.any(String)]);
      const parsed = parse.mock.calls.map(([given]) => sizeOf(String(given)));
      expect([door, parsed.filter(({ depth, values }) => depth > maxRequestDepth || values > maxValues)]).toEqual([
        door,
        [],
      ]);
    }
  });

  test('a number that would change is refused, or its text is kept', async () => {
    for (const [door, send] of Object.entries(doors)) {
      // lines and streams are kept as the text that they are
      if (door === 'stream' || door === 'import of lines') continue;
      const answer = await send(`[${number}]`);
      expect([door, answer.status]).toEqual([door, expect.toSatisfy(isRefusal)]);
      expect([door, await answer.text()]).toEqual([door, expect.stringContaining(number)]);
    }
    expect((await doors['stream']!(`[${number}]`)).ok).toBe(true);
    const { text } = await api.call('GET', '/v1/stream/json', undefined, bearer('root'));
    expect(text).toContain(number);
  });

  test('what is neither too deep nor too much is still taken', async () => {
    const nested = `${'['.repeat(199)}${']'.repeat(199)}`;
    const many = `[${Array(9_000).fill('0').join(',')}]`;
    for (const value of [`[${nested}]`, many]) {
      expect((await doors['stream']!(value)).ok).toBe(true);
      expect((await doors['signed event']!(value)).ok).toBe(true);
    }
    expect((await doors['API']!(`${'['.repeat(190)}${']'.repeat(190)}`)).status).toBe(201);
  });
});

const isRefusal = (status: number): boolean => status >= 400 && status < 500;
