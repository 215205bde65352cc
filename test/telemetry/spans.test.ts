// @module-tag slow
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { defineAgent, defineTool, ToolError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelTurn } from '../../src/agent/context/message.ts';
import { createKeyRedactor } from '../../src/base/redaction/sensitive-keys.ts';
import { openTelemetry } from '../../src/runs/telemetry/opentelemetry/open.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import { fakeModel } from '../support/fake-model.ts';
import { until } from '../support/until.ts';
import { startSdk, sumOf } from './otel.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: z.object({ what: z.string() }),
  execute: ({ what }) => {
    trace.getTracer('of the tool').startSpan('inside the tool').end();
    return { found: `${what}-found` };
  },
});
const fail = defineTool({
  name: 'fail',
  input: z.object({}),
  maxRetries: 0,
  execute: () => {
    throw new ToolError('no such thing', { type: 'missing' });
  },
});
const pay = defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' });

/** A model that also counts cached and reasoning tokens. */
const counting: LanguageModelV4 = {
  ...fakeModel([{ text: 'counted' }]),
  async doGenerate() {
    return {
      content: [{ type: 'text', text: 'counted' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
        outputTokens: { total: 20, text: 12, reasoning: 8 },
      },
      warnings: [],
    };
  },
};

let sdk: ReturnType<typeof startSdk>;
let runtime: Runtime;
beforeAll(async () => {
  sdk = startSdk();
  const agent = defineAgent({
    name: 'seer',
    model: unset,
    instructions: 'Secret instructions.',
    tools: [look, fail, pay],
    maxModelRetries: 1,
    settings: { temperature: 0.5, maxOutputTokens: 99 },
  });
  const silent = defineAgent({ name: 'silent', model: 'counting', streaming: false });
  const models = { counting };
  runtime = await startRuntime([agent, silent], { telemetry: true, models, worker: { sweepMs: 50 } });
});
afterAll(async () => {
  await runtime?.close();
  await sdk?.stop();
});

const spanNamed = (spans: ReadableSpan[], name: string) => spans.filter((span) => span.name === name);
const parentId = (span: ReadableSpan) => span.parentSpanContext?.spanId;
const claimSpans = (runId: string, count: number) =>
  until(`${count} claims have ended`, () => {
    const spans = spanNamed(sdk.spansOf(runId), 'invoke_agent seer');
    return spans.length >= count && spans;
  });

describe('a run', () => {
  test('continues the trace of its enqueuer, with its calls below it, and nothing of what was said', async () => {
    const answers = [
      { text: 'let me see', calls: [{ name: 'look', args: { what: 'the-needle' } }] },
      { text: 'the-answer' },
    ];
    const model = runtime.model((_, n) => {
      trace.getTracer('of the client').startSpan('inside the model').end();
      return answers[n]!;
    });
    const root = trace.getTracer('backend').startSpan('checkout');
    const run = await context.with(trace.setSpan(context.active(), root), () =>
      runtime.run({ agent: 'seer', model: model.id, input: 'the-question' }),
    );
    root.end();
    const [claim] = await claimSpans(run.id, 1);
    const spans = sdk.spansOf(run.id);
    expect([claim!.spanContext().traceId, parentId(claim!)]).toEqual([
      root.spanContext().traceId,
      root.spanContext().spanId,
    ]);
    expect(claim).toMatchObject({
      kind: SpanKind.INTERNAL,
      links: [],
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'seer',
        'gen_ai.conversation.id': run.threadId,
        'lanefold.claim.first': true,
        'lanefold.run.status': 'completed',
        'lanefold.run.iterations': 2,
      },
    });
    expect(claim!.attributes).not.toHaveProperty('gen_ai.provider.name');
    const chats = spanNamed(spans, 'chat fake');
    expect(chats).toHaveLength(2);
    expect(chats[0]).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'fake',
        'gen_ai.request.model': 'fake',
        'gen_ai.request.stream': true,
        'gen_ai.request.temperature': 0.5,
        'gen_ai.request.max_tokens': 99,
        'gen_ai.conversation.id': run.threadId,
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 5,
        'lanefold.llm_call_id': `${run.id}.1`,
      },
    });
    const [tool] = spanNamed(spans, 'execute_tool look');
    expect(tool).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'look',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'c0',
        'lanefold.tool_call': '1.0',
        'lanefold.tool_call.status': 'ok',
      },
    });
    for (const span of [...chats, tool!]) expect(parentId(span)).toBe(claim!.spanContext().spanId);
    const ids = (found: ReadableSpan[]) => found.map((span) => span.spanContext().spanId);
    expect(sdk.spansNamed('inside the model').map(parentId)).toEqual(ids(chats));
    expect(sdk.spansNamed('inside the tool').map(parentId)).toEqual(ids([tool!]));
    const said = /the-question|let me see|the-needle|the-answer|Secret instructions/;
    expect(sdk.exported()).not.toMatch(said);
  });

  test('without a trace of its enqueuer begins one', async () => {
    const model = runtime.model([{ text: 'ok' }]);
    const run = await runtime.run({ agent: 'seer', model: model.id, input: 'x' });
    const [claim] = await claimSpans(run.id, 1);
    expect(parentId(claim!)).toBeUndefined();
    expect(claim!.links).toEqual([]);
  });

  test('that a later claim resumes is a new trace there, linked to the enqueuer', async () => {
    const model = runtime.model([{ calls: [{ name: 'pay' }] }, { text: 'done' }]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const run = await runtime.runs.enqueue({ agent: 'seer', model: model.id, input: 'x', traceparent });
    await until('it waits', async () => (await runtime.runs.get(run)).status === 'suspended');
    await runtime.runs.approve(run, '1.0');
    const [first, later] = await claimSpans(run.id, 2);
    expect(first!.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(first!.attributes['lanefold.run.status']).toBe('suspended');
    expect(parentId(later!)).toBeUndefined();
    expect(later!.spanContext().traceId).not.toBe(first!.spanContext().traceId);
    expect(later!.links).toMatchObject([
      { context: { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' } },
    ]);
    expect(later!.attributes['lanefold.claim.first']).toBe(false);
  });

  test('and what it calls say how they failed', async () => {
    const model = runtime.model((_, n) =>
      n === 0 ? { calls: [{ name: 'fail' }] } : Object.assign(new Error('overloaded'), { statusCode: 503 }),
    );
    const run = await runtime.run({ agent: 'seer', model: model.id, input: 'x' });
    expect(run.run.error?.type).toBe('llm_request');
    const [claim] = await claimSpans(run.id, 1);
    expect(claim).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'llm_request', 'lanefold.run.status': 'failed' },
    });
    const spans = sdk.spansOf(run.id);
    expect(spanNamed(spans, 'execute_tool fail')[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'missing', 'lanefold.tool_call.status': 'error' },
    });
    expect(spanNamed(spans, 'chat fake').map((span) => span.attributes['error.type'])).toEqual([
      undefined,
      'llm_request',
      'llm_request',
    ]);
    expect(sumOf(spans, 'gen_ai.usage.input_tokens')).toBe(run.run.usage!.input_tokens);
  });
});

describe('tokens', () => {
  test('of the spans, and of the metrics, are those of the run', async () => {
    const before = await tokensMeasured();
    const run = await runtime.run({ agent: 'silent', input: 'x' });
    const spans = await until('the spans have ended', () => {
      const found = spanNamed(sdk.spansOf(run.id), 'chat fake');
      return found.length > 0 && found;
    });
    expect(run.run.usage).toEqual({
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cache_read_tokens: 60,
      cache_write_tokens: 10,
      reasoning_tokens: 8,
    });
    expect(spans[0]!.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_write.input_tokens': 10,
      'gen_ai.usage.reasoning.output_tokens': 8,
    });
    expect(spans[0]!.attributes).not.toHaveProperty('gen_ai.request.stream');
    const after = await tokensMeasured();
    expect(after.map((sum, i) => sum - before[i]!)).toEqual([100, 20, 60, 10, 8]);
  });

  test('that the provider did not count are marked as estimates', async () => {
    const { id } = runtime.model([{ text: 'Uncounted.', usage: [0, 0] }]);
    const run = await runtime.run({ agent: 'seer', model: id, input: 'x' });
    const spans = await until('the spans have ended', () => {
      const found = spanNamed(sdk.spansOf(run.id), 'chat fake');
      return found.length > 0 && found;
    });
    const { total_tokens: total, estimated_tokens: estimated } = run.run.usage!;
    expect(estimated).toBe(total);
    expect(spans[0]!.attributes).toMatchObject({ 'lanefold.estimated_tokens': total });
  });

  test('of an answer that another claim made worthless are kept apart, and the call is marked as lost', async () => {
    const { pool } = runtime.database;
    // with a time to come, the sweep at hand looks at the run: one long past would wait for the next look at all runs
    const stolen = `update lanefold._run set lease = lease + 1, lease_until = now() - interval '1 hour',
      enqueued_at = now() + interval '1 hour' where thread_id = $1`;
    const model = runtime.model(async (_, n) => {
      if (n === 1) await pool.query(stolen, ['robbed']);
      return n === 0 ? { calls: [{ name: 'look', args: { what: 'x' } }] } : { text: 'done' };
    });
    const options = { agent: 'seer', model: model.id, input: 'x', threadId: 'robbed', createThread: true };
    const { id, run } = await runtime.run(options);
    const [dropped] = await claimSpans(id, 2);
    expect(dropped).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'lanefold.claim.interrupted': 'lost', 'error.type': 'lost' },
    });
    const spans = sdk.spansOf(id);
    const lost = spans.filter((span) => span.attributes['error.type'] === 'llm_lost');
    // the call itself, and its mark in the trace of the claim that made it again
    expect(lost.map((span) => span.attributes['lanefold.llm_call_id'])).toEqual([`${id}.2`, `${id}.2`]);
    expect(new Set(lost.map((span) => span.spanContext().traceId)).size).toBe(2);
    expect(sumOf(spans, 'lanefold.lost_usage.input_tokens')).toBe(10);
    expect(model.calls).toHaveLength(3);
    expect(run.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
    expect(sumOf(spans, 'gen_ai.usage.input_tokens')).toBe(20);
    expect(sumOf(spans, 'gen_ai.usage.output_tokens')).toBe(10);
  });

  test('of several calls at a time count with the step that stores theirs', async () => {
    const { runClaimed } = await openTelemetry({}, createKeyRedactor());
    const ids = { threadId: 't', runId: 'parallel', agent: 'seer', model: 'fake', contextRef: 'default' };
    const claim = runClaimed({ ...ids, fresh: true, step: 0, traceparent: null, queuedMs: 0 });
    const model = fakeModel([]);
    for (const callId of ['stored', 'lost']) {
      const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
      const turn = { text: '', toolCalls: [], usage, finishReason: 'stop' } as unknown as ModelTurn;
      const call = { callId, iteration: 1, name: 'fake', model, prompt: [], tools: [], settings: {}, stream: false };
      await claim.modelCall(call, () => Promise.resolve({ turn }));
    }
    claim.stepCommitted({ events: [{ kind: 'llm_completed', iteration: 1, data: { call_id: 'stored' } }] });
    claim.interrupted('released');
    const spans = sdk.spansOf('parallel');
    expect(sumOf(spans, 'gen_ai.usage.input_tokens')).toBe(10);
    expect(sumOf(spans, 'lanefold.lost_usage.input_tokens')).toBe(10);
  });
});

test('the metrics have the names and units of the conventions', async () => {
  const found = (await sdk.measurements()).map(({ descriptor: { name, unit } }) => `${name} ${unit}`);
  const usage = ['input_tokens', 'output_tokens', 'cache_read.input_tokens'];
  usage.push('cache_write.input_tokens', 'reasoning.output_tokens');
  expect(found.sort()).toEqual(
    [
      'gen_ai.client.inference.duration s',
      'gen_ai.client.inference.time_to_first_chunk s',
      'gen_ai.execute_tool.duration s',
      'gen_ai.invoke_agent.duration s',
      'gen_ai.invoke_agent.inference_calls {inference_call}',
      'gen_ai.invoke_agent.tool_calls {tool_call}',
      ...usage.map((name) => `gen_ai.client.inference.usage.${name} {token}`),
    ].sort(),
  );
});

async function tokensMeasured(): Promise<number[]> {
  const measurements = await sdk.measurements();
  const names = ['input_tokens', 'output_tokens', 'cache_read.input_tokens'];
  names.push('cache_write.input_tokens', 'reasoning.output_tokens');
  return names.map((name) => {
    const metric = measurements.find(({ descriptor }) => descriptor.name === `gen_ai.client.inference.usage.${name}`);
    return (metric?.dataPoints ?? []).reduce((sum, point) => sum + (point.value as number), 0);
  });
}
