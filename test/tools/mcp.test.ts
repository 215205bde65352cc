// @module-tag slow
import path from 'node:path';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startMcpServer, type HttpMcpServer } from './fixtures/mcp-server.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const script = path.resolve(import.meta.dirname, 'fixtures/mcp-server.ts');

type McpClient = Awaited<ReturnType<typeof createMCPClient>>;

describe.each(['stdio', 'streamable HTTP'])('tools of an MCP server over %s', (kind) => {
  let server: HttpMcpServer | undefined;
  let client: McpClient;
  let lanefold: Runtime;
  beforeAll(async () => {
    server = kind === 'stdio' ? undefined : await startMcpServer();
    client = await createMCPClient({
      transport: server
        ? { type: 'http', url: server.url }
        : new StdioTransport({ command: process.execPath, args: ['--import', 'tsx', script] }),
    });
    const tools = await client.tools();
    lanefold = await startRuntime([
      defineAgent({ name: 'a', model: unset, tools, toolMaxRetries: 0 }),
      defineAgent({ name: 'hasty', model: unset, tools, toolMaxRetries: 0, toolTimeoutMs: 300 }),
    ]);
  });
  afterAll(async () => {
    await lanefold?.close();
    await client?.close().catch(() => {});
    await server?.close();
  });

  const call = async (name: string, args: unknown = {}, agent = 'a') => {
    const model = lanefold.model([{ calls: [{ id: 'c0', name, args }] }, { text: 'done' }]);
    const { threadId, run } = await lanefold.run({ agent, model: model.id, input: 'go' });
    expect(run).toMatchObject({ status: 'completed', result: 'done' });
    await expectSound(lanefold, threadId);
    const [row] = await ledgerOf(lanefold, threadId);
    const content = (await contextOf(lanefold, threadId))[2]![1] as string;
    return { status: row!.status, content, tools: model.calls[0]!.tools };
  };

  test('are described to the model as the server describes them', async () => {
    const { tools } = await call('greet', { name: 'Ada' });
    expect(tools!.map((tool) => tool.name)).toEqual(['greet', 'sum', 'fail', 'draw', 'die', 'hang']);
    expect(tools![0]).toMatchObject({
      description: 'Greets.',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
  });

  test('return text, structured content and a note for an image', async () => {
    expect(await call('greet', { name: 'Ada' })).toMatchObject({ status: 'ok', content: 'Hello Ada' });
    const sum = await call('sum', { a: 1, b: 2 });
    expect(sum.status).toBe('ok');
    expect(sum.content).toContain('the sum is 3');
    const drawn = await call('draw');
    expect(drawn.content).toContain('a pixel\n[');
    expect(drawn.content).toContain('image/png: omitted');
  });

  test('that fail or get invalid arguments return an error to the model', async () => {
    const failed = await call('fail');
    expect([failed.status, JSON.parse(failed.content)]).toMatchObject([
      'error',
      { ok: false, error: { message: 'no such order', retryable: false } },
    ]);
    expect(await call('greet', { name: 7 })).toMatchObject({ status: 'error' });
  });

  test('that hang are abandoned after the timeout', async () => {
    const { status, content } = await call('hang', {}, 'hasty');
    expect([status, JSON.parse(content).error.type]).toEqual(['error', 'timeout']);
    if (server) expect(server.hung).toContain('called');
  });

  test('that hang end with the run that is cancelled', async () => {
    const model = lanefold.model([{ calls: [{ id: 'c0', name: 'hang' }] }, { text: 'done' }]);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go' });
    await until('it hangs', async () => {
      const events = await lanefold.runs.events(run);
      return events.some((event) => event.kind === 'tool_started');
    });
    await lanefold.runs.cancel(run);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    await expectSound(lanefold, run.threadId);
  });

  // Last, because the server does not come back.
  test.runIf(kind === 'stdio')('of a server that dies in a call fail, and the run continues', async () => {
    expect(await call('die')).toMatchObject({ status: 'error' });
    expect(await call('greet', { name: 'Ada' })).toMatchObject({ status: 'error' });
  });
});
