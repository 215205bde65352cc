import { agentTool, defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';
import { until } from '../support/until.ts';
import { startSdk } from './otel.ts';

let sdk: ReturnType<typeof startSdk>;
let runtime: Runtime;
beforeAll(async () => {
  sdk = startSdk();
  const input = z.object({ user: z.string(), password: z.string() });
  const login = defineTool({ name: 'login', input, execute: () => ({ ok: true, token: 'tok-hidden' }) });
  const agent = defineAgent({ name: 'seer', model: 'fake:0', instructions: 'Be brief.', tools: [login] });
  const helper = defineAgent({ name: 'helper', model: 'scripted:["done"]' });
  const calls = [{ tool: 'ask_helper', args: { task: 'help' } }, 'Finished.'];
  const lead = defineAgent({ name: 'lead', model: `scripted:${JSON.stringify(calls)}`, tools: [agentTool(helper)] });
  runtime = await startRuntime([agent, lead, helper], { telemetry: { content: true } });
});
afterAll(async () => {
  await runtime?.close();
  await sdk?.stop();
});

test('content is recorded on request, with the sensitive keys redacted', async () => {
  const args = { user: 'ann', password: 'pass-hidden' };
  runtime.model([{ thinking: 'hmm', calls: [{ name: 'login', args }] }, { text: 'You are in.' }]);
  const { id } = await runtime.run({ agent: 'seer', input: 'let me in' });
  const spans = await until('the run has ended', () => {
    const found = sdk.spansOf(id);
    return found.some((span) => span.name.startsWith('invoke_agent')) && found;
  });
  const read = (name: string, attribute: string, index = 0) =>
    JSON.parse(spans.filter((span) => span.name === name)[index]!.attributes[attribute] as string) as unknown;
  const call = { type: 'tool_call', id: 'c0', name: 'login', arguments: { user: 'ann', password: '[REDACTED]' } };
  expect(read('chat fake', 'gen_ai.output.messages')).toEqual([
    { role: 'assistant', parts: [{ type: 'reasoning', content: 'hmm' }, call] },
  ]);
  expect(read('chat fake', 'gen_ai.input.messages', 1)).toMatchObject([
    { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
    { role: 'user', parts: [{ type: 'text', content: 'let me in' }] },
    { role: 'assistant', parts: expect.arrayContaining([call]) },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0' }] },
  ]);
  expect(read('chat fake', 'gen_ai.tool.definitions')).toMatchObject([{ type: 'function', name: 'login' }]);
  expect(read('execute_tool login', 'gen_ai.tool.call.arguments')).toEqual(call.arguments);
  expect(read('execute_tool login', 'gen_ai.tool.call.result')).toEqual({ ok: true, token: '[REDACTED]' });
  expect(sdk.exported()).not.toContain('hidden');
});

test('over HTTP, the header traceparent is kept with the run, and no part of what makes a request the same', async () => {
  const server = await runtime.startServer({ port: 0 });
  const accept = async (traceparent: string) => {
    const response = await fetch(`${server.url}/v1/threads/http/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'once', traceparent },
      body: JSON.stringify({ agent: 'seer', input: 'x', create_thread: true }),
    });
    return [response.status, ((await response.json()) as { duplicate: boolean }).duplicate];
  };
  const header = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(await accept(header)).toEqual([202, false]);
  expect(await accept(header.replace('b7ad', 'b7ae'))).toEqual([202, true]);
  const { rows } = await runtime.database.pool.query(`select traceparent from lanefold.run where thread_id = 'http'`);
  expect(rows).toEqual([{ traceparent: header }]);
  await server.close();
});

test('a child is in the trace of its parent, below the claim that made the call', async () => {
  const { run } = await runtime.run({ agent: 'lead', input: 'go' });
  const [, child] = (await runtime.runs.tree(run)).runs;
  const [parents, children] = await until('both are traced', async () => {
    const found = [sdk.spansOf(run.id), sdk.spansOf(child!.id)] as const;
    return found.every((spans) => spans.some(({ name }) => name.startsWith('invoke_agent'))) ? found : undefined;
  });
  const claim = children.find(({ name }) => name.startsWith('invoke_agent'))!;
  const above = parents.find((span) => span.spanContext().spanId === claim.parentSpanContext?.spanId);
  expect(above?.attributes['lanefold.claim.first']).toBe(true);
  expect(claim.spanContext().traceId).toBe(above?.spanContext().traceId);
});
