import vm from 'node:vm';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type Api } from '../api/helpers.ts';
import { bundle } from './bundle.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

/** What browsers, Deno, Bun, workers and edge functions have in common, and nothing of Node. */
const web = {
  fetch,
  URL,
  URLSearchParams,
  Headers,
  Request,
  Response,
  ReadableStream,
  TextDecoder,
  AbortController,
  crypto,
  setTimeout,
  clearTimeout,
};

describe.each([
  ['a browser', { platform: 'browser', conditions: [] }],
  ['a worker runtime', { platform: 'neutral', conditions: ['workerd', 'worker'] }],
] as const)('lanefold/client bundled for %s', (_, { platform, conditions }) => {
  let program: string;
  beforeAll(async () => {
    program = await bundle('client', { platform, conditions: [...conditions] });
  });

  test('needs no global to be loaded, nor to make a client', () => {
    const context = vm.createContext({});
    vm.runInContext(`${program}; var made = lanefold.createClient({ url: 'https://example.com' })`, context);
    expect(Object.keys((context['made'] as object)!).sort()).toEqual(
      [
        'alarms',
        'approvals',
        'cases',
        'contexts',
        'events',
        'feedback',
        'keys',
        'limits',
        'runs',
        'threads',
        'waits',
      ].sort(),
    );
  });

  test('starts a run, follows and awaits it with web globals alone', async () => {
    const context = vm.createContext({ ...web, url: api.url });
    const script = `${program}; (async () => {
      const client = lanefold.createClient({ url });
      const run = await client.runs.enqueue({ agent: 'calc', input: 'hi' });
      const kinds = [];
      for await (const item of client.runs.stream(run)) if (item.type === 'event') kinds.push(item.event.kind);
      const { status } = await client.runs.wait(run);
      const error = await client.runs.get({ threadId: run.threadId, id: 'none' }).catch((error) => error);
      return JSON.stringify({ status, kinds, code: error.code, ours: lanefold.isClientError(error, 'run_not_found') });
    })()`;
    const found = JSON.parse((await vm.runInContext(script, context)) as string) as { kinds: string[] };
    expect(found).toMatchObject({ status: 'completed', code: 'run_not_found', ours: true });
    expect(found.kinds).toEqual(expect.arrayContaining(['request_started', 'llm_completed', 'request_completed']));
  });
});

test('the entry points for browsers are small', async () => {
  for (const [entry, most] of [
    ['client', 7_400],
    ['react', 4_800],
  ] as const) {
    const program = await bundle(entry);
    const compressed = brotliCompressSync(program).length;
    console.log(`lanefold/${entry}: ${program.length} bytes, ${compressed} by brotli, of at most ${most}`);
    expect(compressed).toBeLessThan(most);
    expect(program).not.toMatch(/\brequire\(|node:/);
  }
});
