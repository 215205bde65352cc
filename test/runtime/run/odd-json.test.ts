import { createClient } from 'lanefold/client';
import { defineAgent, defineTool, type RunningServer } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { startModelServer, type ModelServer, type Reply } from '../../support/openai-server.ts';
import { readSse } from '../../support/sse.ts';

const digits = '2512292042121000001';
const got: unknown[] = [];
const keep = (name: string, result: unknown) =>
  defineTool({
    name,
    input: { type: 'object', additionalProperties: true },
    execute: (args) => {
      got.push(args);
      return result;
    },
  });

const tools = [
  keep('find', { found: new Map([['id', BigInt(digits)]]), small: 7n }),
  keep('quote', `{"id": ${digits}}`),
  keep('lines', 'a\u2028b\u2029c\u0085d'),
];
const agents = ['openai:test-model', 'anthropic:test-model', 'google:test-model'].map((model) =>
  defineAgent({ name: model.split(':')[0]!, model, tools }),
);

let models: ModelServer;
let lanefold: TestLanefold;
let server: RunningServer;
beforeAll(async () => {
  models = await startModelServer();
  for (const name of ['OPENAI', 'ANTHROPIC', 'GOOGLE_GENERATIVE_AI']) {
    vi.stubEnv(`${name}_BASE_URL`, models.url);
    vi.stubEnv(`${name}_API_KEY`, 'test');
  }
  lanefold = await startLanefold({ agents });
  await lanefold.startWorker();
  server = await lanefold.startServer({ port: 0 });
});
afterAll(async () => {
  await server?.close();
  await lanefold?.close();
  await models?.close();
  vi.unstubAllEnvs();
});

const events = (...all: unknown[]): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: all.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
});
/** Gemini sends arguments as a value; the fake would round them. */
const fromGemini = (args: string): Reply =>
  events(
    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"find","args":${args}}}]},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`,
  );
const call = (args: string, name = 'find'): Reply => ({ toolCalls: [{ id: 'c1', name, arguments: args }] });

async function run(agent: string, threadId?: string) {
  const from = models.requests.length;
  const handle = await lanefold.runs.enqueue({ agent, input: 'go', ...(threadId ? { threadId } : {}) });
  const ended = await lanefold.runs.wait(handle);
  const { rows } = await lanefold.database.pool.query<{ payload: never; text: string }>(
    'select payload, payload::text as text from lanefold.thread_entry where thread_id = $1 order by seq',
    [handle.threadId],
  );
  return { ended, threadId: handle.threadId, handle, log: rows, requests: models.requests.slice(from) };
}

/** The arguments of the call in a request, as text. */
const sentArguments = (body: Record<string, never>): string => {
  const text = JSON.stringify(body);
  return /"arguments":("(?:[^"\\]|\\.)*")/.exec(text)?.[1] ?? /"(?:input|args)":(\{[^}]*\})/.exec(text)?.[1] ?? text;
};

describe.each([
  ['openai', call(`{"id": ${digits}, "at": [0.1]}`), JSON.stringify(`{"id": ${digits}, "at": [0.1]}`)],
  ['anthropic', call(`{"id": ${digits}, "at": [0.1]}`), `{"id":"${digits}","at":[0.1]}`],
  ['google', fromGemini(`{"id": ${digits}, "at": [0.1]}`), `{"id":"${digits}","at":[0.1]}`],
])('a number beyond 2^53 from %s', (agent, answer, sent) => {
  test('reaches no tool, stays in the log and goes back with its digits; the model reads where it is', async () => {
    got.length = 0;
    models.reply(answer, { text: 'sorry' });
    const { ended, log, requests, threadId } = await run(agent);
    expect(ended).toMatchObject({ status: 'completed', result: 'sorry' });
    expect(got).toEqual([]);
    const [, asked, told] = log;
    expect(asked!.payload).toMatchObject({
      tool_calls: [
        { arguments: { id: digits, at: [0.1] }, arguments_raw: expect.stringMatching(new RegExp(`: ?${digits}\\b`)) },
      ],
    });
    expect(JSON.parse((told!.payload as { content: string }).content)).toMatchObject({
      error: { type: 'invalid_arguments', message: expect.stringContaining(`${digits} at $.id`) },
    });
    expect(sentArguments(requests[1]!.body)).toBe(sent);

    // the next run of the thread sends the same history
    models.reply({ text: 'again' });
    const next = await run(agent, threadId);
    expect(next.ended.status).toBe('completed');
    expect(sentArguments(next.requests[0]!.body)).toBe(sent);
  });
});

test.each(['openai', 'anthropic', 'google'])(
  'arguments of %s nested 20,000 levels end no run, now or later',
  async (agent) => {
    got.length = 0;
    const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    models.reply(agent === 'google' ? fromGemini(deep) : call(deep), { text: 'sorry' }, { text: 'again' });
    const { ended, log, threadId } = await run(agent);
    expect(ended).toMatchObject({ status: 'completed', result: 'sorry' });
    expect(got).toEqual([]);
    expect(log[1]!.payload).toMatchObject({ tool_calls: [{ arguments_raw: deep }] });
    expect((log[2]!.payload as { content: string }).content).toContain('nested deeper than 200 levels');
    expect((await run(agent, threadId)).ended.result).toBe('again');
  },
);

test('a digit string and 200 levels reach the tool as they are, and results keep their digits', async () => {
  got.length = 0;
  const args = `{"id":"${digits}","deep":${'['.repeat(199)}1${']'.repeat(199)}}`;
  models.reply(
    {
      toolCalls: [
        { id: 'c1', name: 'find', arguments: args },
        { id: 'c2', name: 'quote', arguments: '{}' },
      ],
    },
    { text: 'ok' },
  );
  const { log, threadId, requests } = await run('openai');
  expect(JSON.stringify(got[0])).toBe(args);
  const results = log.slice(2, 4).map(({ payload }) => (payload as { content: string }).content);
  expect(results).toEqual([`{"found":[["id","${digits}"]],"small":7}`, `{"id": ${digits}}`]);
  expect(
    (requests[1]!.body as { messages: { content: string }[] }).messages.slice(-2).map(({ content }) => content),
  ).toEqual(results);
  // over HTTP, in the client, and as a message of the AI SDK
  const client = createClient({ url: server.url });
  const { data } = await client.threads.entries(threadId);
  expect(JSON.stringify(data)).toContain(digits);
  const messages = await (await fetch(`${server.url}/v1/threads/${threadId}/ui-messages`)).text();
  expect(messages).toContain(`{"id":"${digits}"}`);
  expect(messages).not.toContain('2512292042121000000');
});

test('what callers send over HTTP is refused with its path, and a digit string is kept', async () => {
  const post = async (path: string, body: string) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    return { status: response.status, text: await response.text() };
  };
  for (const [path, body, at] of [
    ['/v1/threads', `{"metadata":{"a":[{"id":${digits}}]}}`, 'metadata.a[0].id'],
    ['/v1/threads/numbers/runs', `{"agent":"openai","input":"x","tool_context":{"n":1e400}}`, 'tool_context.n'],
    [
      '/v1/threads/numbers/entries',
      `{"entries":[{"kind":"note","payload":{"n":0.1000000000000000000001}}]}`,
      'entries[0].payload.n',
    ],
  ] as const) {
    const { status, text } = await post(path, body);
    expect({ status, problem: JSON.parse(text) as unknown }).toMatchObject({
      status: 400,
      problem: { code: 'invalid_request', errors: [{ path: at }] },
    });
  }
  expect(await post('/v1/threads', `{"metadata":{"id":"${digits}","n":9007199254740991,"f":0.1}}`)).toMatchObject({
    status: 201,
    text: expect.stringContaining(`{"f":0.1,"n":9007199254740991,"id":"${digits}"}`),
  });
  const deep = (levels: number) => `{"metadata":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
  expect((await post('/v1/threads', deep(200))).status).toBe(201);
  expect((await post('/v1/threads', deep(20_000))).status).toBe(400);
});

test('no event stream contains a character that some readers take for the end of a line', async () => {
  const odd = /[\u0085\u2028\u2029]/;
  models.reply(call('{"q":"x\u2028y"}', 'lines'), { text: 'one\u2028two\u2029three\u0085four' });
  const { handle, threadId, ended } = await run('openai');
  expect(ended.result).toMatch(odd);
  const runPath = `${server.url}/v1/threads/${threadId}/runs/${handle.id}`;
  for (const url of [`${runPath}/events?entries=true`, `${runPath}/events?format=ui`]) {
    const reader = await readSse(url);
    await reader.ended;
    expect(reader.raw()).not.toMatch(odd);
    expect(reader.raw()).toContain('\\u2028');
    expect(reader.messages.length).toBeGreaterThan(1);
  }
});
