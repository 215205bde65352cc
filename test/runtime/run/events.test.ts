import { defineAgent, defineTool, type EnqueueOptions, type JsonObject } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { eventsOf, type EventRow } from '../../support/log.ts';
import { deferred } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen' });
const output = { schema: z.object({ a: z.string() }) };
const usage = { input_tokens: expect.any(Number), output_tokens: expect.any(Number), total_tokens: expect.any(Number) };
const contract = {
  schema_kind: 'json_schema',
  retries: 1,
  on_validation_error: 'repair',
  schema_summary: { schema_kind: 'json_schema', required: ['a'], properties: ['a'] },
};

describe('the events of a run', () => {
  let lanefold: Runtime;
  const firstOfKind = new Map<string, EventRow>();
  const runs: Record<string, { id: string; events: EventRow[] }> = {};

  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, instructions: 'Look.', tools: [look] })]);
    const keep = async (name: string, handle: { id: string; threadId: string }) => {
      const events = await eventsOf(lanefold, handle.threadId);
      runs[name] = { id: handle.id, events };
      for (const event of events) if (!firstOfKind.has(event.kind)) firstOfKind.set(event.kind, event);
    };
    const called = deferred();
    const answer = deferred();
    const steered = lanefold.model(async (_, n) => {
      if (n === 0) return { calls: [{ id: 'c1', name: 'look' }], usage: [7, 3] };
      if (n > 1) return { text: n === 2 ? 'not an object' : '{"a": "b"}' };
      called.resolve();
      await answer.promise;
      return { text: 'overtaken' };
    });
    const handle = await lanefold.runs.enqueue({ agent: 'a', model: steered.id, input: 'x', output });
    await called.promise;
    await lanefold.runs.steer(handle.threadId, 'and y', { inputId: 'in-1', by: 'me', extraRefs: { k: 1 } });
    answer.resolve();
    await lanefold.runs.wait(handle);
    await keep('full', handle);
    const run = (options: Partial<EnqueueOptions>) =>
      lanefold.run({ agent: 'a', input: 'x', ...options } as EnqueueOptions);
    const busy = Object.assign(new Error('busy'), {
      statusCode: 503,
      isRetryable: true,
      responseHeaders: { 'retry-after-ms': '1' },
    });
    const retried = lanefold.model((_, n) => (n === 0 ? busy : { finishReason: 'length' }));
    await keep('failed', await run({ model: retried.id }));
    const wrong = lanefold.model([{ text: 'no' }]);
    await keep('invalid', await run({ model: wrong.id, output: { ...output, mode: 'error' } }));
    const streaming = deferred();
    const silent = lanefold.model((call) => {
      streaming.resolve();
      return new Promise((_, reject) => call.abortSignal!.addEventListener('abort', () => reject(new Error('gone'))));
    });
    const slow = await lanefold.runs.enqueue({ agent: 'a', model: silent.id, input: 'x' });
    await streaming.promise;
    await lanefold.runs.cancel(slow, 'enough');
    await lanefold.runs.wait(slow);
    await keep('cancelled', slow);
  });
  afterAll(() => lanefold?.close());

  test.each<[kind: string, iteration: number, data: JsonObject | object]>([
    ['request_started', 1, { seq: 1, config_fingerprint: expect.any(String) }],
    ['llm_started', 1, { call_id: expect.stringMatching(/^run_.*\.1$/), model: 'fake:0', message_count: 2 }],
    [
      'llm_completed',
      1,
      {
        call_id: expect.stringMatching(/\.1$/),
        model: 'fake:0',
        turn_type: 'tool_calls',
        finish_reason: 'tool_calls',
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        seq: 2,
      },
    ],
    ['checkpoint', 1, { reason: 'after_llm' }],
    ['tool_started', 1, { tool_call_id: 'c1', tool_name: 'look', seq: 2 }],
    [
      'tool_completed',
      1,
      { tool_call_id: 'c1', tool_name: 'look', status: 'ok', attempts: 1, duration_ms: expect.any(Number), seq: 3 },
    ],
    [
      'input_injected',
      2,
      { input_id: 'in-1', kind: 'steer', by: 'me', refs: { k: 1 }, at_ms: expect.any(Number), seq: 5 },
    ],
    ['output_started', 3, { ...contract, status: 'started', attempt: 0, seq: 6 }],
    [
      'output_repair',
      3,
      { ...contract, status: 'repair', attempt: 1, validation_error: expect.stringContaining('not JSON') },
    ],
    ['output_validated', 3, { ...contract, status: 'validated', attempt: 1 }],
    [
      'request_completed',
      3,
      {
        termination_reason: 'final_answer',
        result: { a: 'b' },
        usage,
        output: { ...contract, status: 'repaired', attempt: 1 },
      },
    ],
    [
      'llm_retry',
      1,
      {
        call_id: expect.stringMatching(/\.1$/),
        attempt: 1,
        delay_ms: 1,
        error: { type: 'llm_request', message: 'busy (HTTP 503)' },
      },
    ],
    ['request_failed', 1, { error_type: 'llm_response', error: { type: 'llm_response', message: expect.any(String) } }],
    [
      'output_failed',
      1,
      {
        ...contract,
        on_validation_error: 'error',
        status: 'error',
        attempt: 0,
        error: { type: 'output_validation', message: expect.any(String) },
      },
    ],
    ['request_cancelled', 1, { reason: 'enough' }],
  ])('%s has the right iteration and data', (kind, iteration, data) => {
    const event = firstOfKind.get(kind)!;
    expect(event.iteration).toBe(iteration);
    expect(event.data).toMatchObject(data);
    const extra = Object.keys(event.data).filter((key) => !(key in data));
    // usage is present only if the model reported it
    expect(extra.filter((key) => key !== 'usage')).toEqual([]);
  });

  test('are recorded in order', () => {
    expect(runs['full']!.events.map((event) => [event.kind, event.iteration, event.data['message_count']])).toEqual([
      ['request_started', 1, undefined],
      ['llm_started', 1, 2],
      ['llm_completed', 1, undefined],
      ['checkpoint', 1, undefined],
      ['tool_started', 1, undefined],
      ['tool_completed', 1, undefined],
      ['checkpoint', 2, undefined],
      ['llm_started', 2, 4],
      ['llm_completed', 2, undefined],
      ['checkpoint', 2, undefined],
      ['input_injected', 2, undefined],
      ['llm_started', 3, 6],
      ['llm_completed', 3, undefined],
      ['checkpoint', 3, undefined],
      ['output_started', 3, undefined],
      ['output_repair', 3, undefined],
      ['output_validated', 3, undefined],
      ['request_completed', 3, undefined],
      ['checkpoint', 3, undefined],
    ]);
  });

  test('include the usage of a rejected turn', () => {
    const failed = runs['failed']!.events.find((event) => event.kind === 'request_failed')!;
    expect(failed.data['usage']).toEqual({ input_tokens: 10, output_tokens: 5, total_tokens: 15 });
  });

  test('agree with what runs.get returns', async () => {
    const { id, events } = runs['full']!;
    const { rows } = await lanefold.database.pool.query('select thread_id from lanefold.run where id = $1', [id]);
    const run = await lanefold.runs.get({ threadId: rows[0].thread_id, id });
    expect(run).toMatchObject({
      status: 'completed',
      phase: null,
      maxIterations: 10,
      tools: ['look'],
      queuedInputs: 0,
      output: events.at(-2)!.data['output'],
      details: null,
      toolCalls: [
        {
          call: '1.0',
          round: 1,
          index: 0,
          id: 'c1',
          name: 'look',
          arguments: {},
          status: 'ok',
          result: 'seen',
          attempts: 1,
        },
      ],
    });
    const cot = await lanefold.run({ agent: 'a', strategy: 'cot', model: 'scripted:["1. a\\n#### b"]', input: 'x' });
    expect(await lanefold.runs.get(cot)).toMatchObject({
      result: 'b',
      tools: [],
      details: { steps: [{ number: 1, content: 'a' }], conclusion: 'b', raw_response: '1. a\n#### b' },
    });
  });
});
