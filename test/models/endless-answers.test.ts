// @module-tag long
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toPrompt } from '../../src/agent/models/prompt.ts';
import { createModelRegistry } from '../../src/agent/models/registry.ts';
import { generate } from '../../src/agent/models/generate.ts';

/** What the server answers next, until the client hangs up; and the end of the last connection. */
let answer: (response: ServerResponse) => void | Promise<void>;
let closed: Promise<unknown>;
let base: string;
const server = createServer((request, response) => {
  request.resume();
  closed = once(response, 'close');
  void answer(response);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // OpenAI's own address cannot be chosen
  const { fetch: real } = globalThis;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => real(url.replace('https://api.openai.com', base), init));
});
afterAll(() => {
  vi.unstubAllGlobals();
  server.closeAllConnections();
  server.close();
});

async function ask(id: string, stream: boolean) {
  const env = {
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_GENERATIVE_AI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: base,
    GOOGLE_GENERATIVE_AI_BASE_URL: base,
    ...(id.startsWith('openai-compatible') ? { OPENAI_BASE_URL: base } : {}),
  };
  const model = await createModelRegistry({ env }).resolve(id);
  const prompt = toPrompt([{ role: 'user', content: 'Hello' }]);
  return generate(model, { prompt, tools: [], stream, signal: new AbortController().signal });
}

const endlessly =
  (piece: string, begin = '') =>
  async (response: ServerResponse) => {
    response.write(begin);
    while (!response.destroyed) if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
  };
const keys = `{${Array.from({ length: 250_001 }, (_, i) => `"k${i}":0`).join(',')}}`;
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const kib = 'x'.repeat(1_024);

const answers: [string, Record<string, string>, (response: ServerResponse) => void | Promise<void>][] = [
  ['one text of many values', json, (response) => void response.end(keys)],
  ['one text of many values between empty lines', json, (response) => void response.end(keys.replaceAll(',', ',\n\n'))],
  ['one text without an end', json, endlessly(kib.repeat(64), '{"id":"')],
  ['an event of many values', events, (response) => void response.end(`data: ${keys}\n\n`)],
  ['an event of many lines', events, (response) => void response.end(`data: ${keys.replaceAll(',', ',\ndata: ')}\n\n`)],
  ['an event without an end', events, endlessly(`data: ${kib.repeat(64)}\n`)],
  ['a line without an end', events, endlessly(kib.repeat(64), 'data: ')],
  ['a line without a type', {}, endlessly(kib.repeat(64), 'data: ')],
];

const expectAnEnd = async (id: string, [, headers, body]: (typeof answers)[number]) => {
  answer = (response) => body(response.writeHead(200, headers));
  const error = { errorType: 'llm_response', retryable: false, message: expect.stringContaining('has a part of more') };
  await expect(ask(id, headers !== json)).rejects.toMatchObject(error);
  await closed;
};

test.each(answers)('an answer ends at %s', (...each) => expectAnEnd('openai-compatible:m', each));

describe.each(['openai:m', 'anthropic:m', 'google:m'])('%s ends', (id) => {
  // every provider reads with the same bounds
  const few = new Set(['an event of many values']);
  test.each(answers.filter(([name]) => few.has(name)))('at %s', (...each) => expectAnEnd(id, each));
  test.each(answers.filter(([name]) => !few.has(name)))('at %s', { tags: 'slow' }, (...each) => expectAnEnd(id, each));
});

test.each(['openai:m', 'openai-compatible:m', 'anthropic:m', 'google:m'])(
  '%s says what an error without an end was',
  async (id) => {
    answer = (response) => endlessly(kib)(response.writeHead(503, json));
    await expect(ask(id, true)).rejects.toMatchObject({ errorType: 'llm_request', statusCode: 503, retryable: true });
    await closed;
  },
);
