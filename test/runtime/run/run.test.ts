import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contextOf, entriesOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const add = defineTool({
  name: 'add',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

describe('a run', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'calc', model: unset, instructions: 'Calculate.', tools: [add] }),
      defineAgent({ name: 'poet', model: unset, instructions: 'Rhyme.' }),
      defineAgent({ name: 'plain', model: unset, tools: [add], streaming: true }),
    ]);
  });
  afterAll(() => lanefold?.close());

  const sum = () =>
    lanefold.model([
      {
        thinking: 'easy',
        text: 'Let me add.',
        calls: [{ id: 'c1', name: 'add', args: { a: 1, b: 2 } }],
        usage: [7, 3],
      },
      { text: 'It is 3.', usage: [11, 4] },
    ]);

  test('logs its conversation, each answer with the hash of the context the model saw', async () => {
    const model = sum();
    const { threadId, id } = await lanefold.run({ agent: 'calc', model: model.id, input: '1+2?', requestId: 'req-1' });
    const entries = await entriesOf(lanefold, threadId);
    expect(entries.map((e) => [e.kind, e.role, e.payload['content'] ?? e.payload['value']])).toEqual([
      ['ai_config_change', null, 'Calculate.'],
      ['ai_message', 'user', '1+2?'],
      ['ai_message', 'assistant', 'Let me add.'],
      ['ai_message', 'tool', '{"sum":3}'],
      ['ai_message', 'assistant', 'It is 3.'],
    ]);
    expect(entries[0]!.payload).toMatchObject({ field: 'system_prompt', value: 'Calculate.' });
    expect(entries.slice(1).every((e) => e.runId === id && e.requestId === 'req-1')).toBe(true);
    expect(entries[2]!.payload).toMatchObject({
      thinking: 'easy',
      tool_calls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 }, arguments_raw: '{"a":1,"b":2}' }],
    });
    expect(entries[3]!.payload).toMatchObject({ tool_call_id: 'c1', name: 'add' });
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(entries[2]!.refs).toMatchObject({ context_hash: hash, llm_call_id: `${id}.1`, iteration: 1 });
    expect(entries[4]!.refs).toMatchObject({ context_hash: hash, llm_call_id: `${id}.2`, iteration: 2 });
    await expectSound(lanefold, threadId);
  });

  test('records its events in order, with the calls and entries they belong to', async () => {
    const { threadId, id } = await lanefold.run({ agent: 'calc', model: sum().id, input: '1+2?' });
    const events = await eventsOf(lanefold, threadId);
    expect(events.map((event) => [event.kind, event.iteration, event.data['reason']])).toEqual([
      ['request_started', 1, undefined],
      ['llm_started', 1, undefined],
      ['llm_completed', 1, undefined],
      ['checkpoint', 1, 'after_llm'],
      ['tool_started', 1, undefined],
      ['tool_completed', 1, undefined],
      ['checkpoint', 2, 'after_tools'],
      ['llm_started', 2, undefined],
      ['llm_completed', 2, undefined],
      ['checkpoint', 2, 'after_llm'],
      ['request_completed', 2, undefined],
      ['checkpoint', 2, 'terminal'],
    ]);
    expect(events[0]!.data).toMatchObject({ config_fingerprint: expect.any(String), seq: 1 });
    expect(events[2]!.data).toMatchObject({
      call_id: `${id}.1`,
      turn_type: 'tool_calls',
      finish_reason: 'tool_calls',
      seq: 2,
    });
    expect(events[5]!.data).toMatchObject({ tool_call_id: 'c1', tool_name: 'add', status: 'ok', attempts: 1, seq: 3 });
    expect(events[10]!.data).toMatchObject({
      termination_reason: 'final_answer',
      result_seq: 4,
      usage: { input_tokens: 18, output_tokens: 7, total_tokens: 25 },
    });
  });

  test('returns result, usage, termination reason and counts, and keeps a ledger of its tool calls', async () => {
    const { threadId, id, run } = await lanefold.run({ agent: 'calc', model: sum().id, input: '1+2?' });
    expect(run).toMatchObject({
      status: 'completed',
      terminationReason: 'final_answer',
      result: 'It is 3.',
      error: null,
      iteration: 2,
      step: 3,
      usage: { input_tokens: 18, output_tokens: 7, total_tokens: 25 },
    });
    expect(run.durationMs).toBeGreaterThanOrEqual(0);
    expect(await ledgerOf(lanefold, threadId)).toEqual([
      {
        round: 1,
        call_index: 0,
        tool_call_id: 'c1',
        name: 'add',
        status: 'ok',
        attempts: 1,
        result: '{"sum":3}',
        idempotency_key: `${id}:1:0`,
      },
    ]);
    expect(await lanefold.threads.get(threadId)).toMatchObject({ activeRunId: null, rev: 5 });
  });

  test('continues the context of the previous run', async () => {
    const first = await lanefold.run({ agent: 'calc', model: sum().id, input: '1+2?' });
    const second = lanefold.model([{ text: 'Still 3.' }]);
    await lanefold.run({ agent: 'calc', model: second.id, input: 'Sure?', threadId: first.threadId });
    expect(second.calls[0]!.prompt.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(second.calls[0]!.tools).toMatchObject([{ name: 'add' }]);
    expect(await contextOf(lanefold, first.threadId)).toEqual([
      ['system', 'Calculate.'],
      ['user', '1+2?'],
      ['assistant', 'Let me add.'],
      ['tool', '{"sum":3}'],
      ['assistant', 'It is 3.'],
      ['user', 'Sure?'],
      ['assistant', 'Still 3.'],
    ]);
    await expectSound(lanefold, first.threadId);
  });

  test('logs the agent’s prompt before the user message, but only if the lane has a different one', async () => {
    const echo = (agent: string, threadId: string) =>
      lanefold.run({ agent, model: 'scripted:["ok"]', input: `by ${agent}`, threadId, createThread: true });
    for (const agent of ['calc', 'calc', 'poet', 'calc']) await echo(agent, 'prompts');
    const entries = await entriesOf(lanefold, 'prompts');
    expect(entries.map((e) => e.payload['value'] ?? e.payload['content'])).toEqual([
      'Calculate.',
      'by calc',
      'ok',
      'by calc',
      'ok',
      'Rhyme.',
      'by poet',
      'ok',
      'Calculate.',
      'by calc',
      'ok',
    ]);
    await echo('plain', 'prompts');
    expect((await contextOf(lanefold, 'prompts'))[0]).toEqual(['user', 'by calc']);
    await expectSound(lanefold, 'prompts');
  });

  test('keeps the prompt its thread was created with', async () => {
    await lanefold.threads.create({ id: 'own-prompt', systemPrompt: 'Be mine.' });
    const model = lanefold.model([{ text: 'yes' }]);
    await lanefold.run({ agent: 'calc', model: model.id, input: 'hi', threadId: 'own-prompt' });
    expect(model.calls[0]!.prompt[0]).toMatchObject({ role: 'system', content: 'Be mine.' });
    expect((await entriesOf(lanefold, 'own-prompt')).map((e) => e.kind)).toEqual([
      'ai_config_change',
      'ai_message',
      'ai_message',
    ]);
  });

  test('runs the tools of its last allowed model call, then completes at the limit', async () => {
    const model = lanefold.model((_, n) => ({ calls: [{ id: `c${n}`, name: 'add', args: { a: n, b: 1 } }] }));
    const { threadId, run } = await lanefold.run({ agent: 'calc', model: model.id, input: 'go', maxIterations: 2 });
    expect(run).toMatchObject({
      status: 'completed',
      terminationReason: 'max_iterations',
      result: null,
    });
    const { rows } = await lanefold.database.pool.query(
      'select result is null as none, result_seq from lanefold.run where thread_id = $1',
      [threadId],
    );
    expect(rows).toEqual([{ none: true, result_seq: null }]);
    expect(model.calls).toHaveLength(2);
    expect((await contextOf(lanefold, threadId)).map(([role]) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    await expectSound(lanefold, threadId);
  });

  test('logs a warning about repeated calls, and the model sees it', async () => {
    const again = { calls: [{ name: 'add', args: { a: 1, b: 1 } }] };
    const model = lanefold.model([again, again, { text: 'enough' }]);
    const { threadId } = await lanefold.run({ agent: 'calc', model: model.id, input: 'go' });
    const warning = (await entriesOf(lanefold, threadId)).filter((e) => e.refs['kind'] === 'cycle_warning');
    expect(warning).toMatchObject([{ role: 'user', refs: { iteration: 2 } }]);
    expect(model.calls[2]!.prompt.at(-1)).toMatchObject({ role: 'user' });
    await expectSound(lanefold, threadId);
  });
});
