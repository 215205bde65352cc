import type { LanguageModelV4 } from '@ai-sdk/provider';
import { defineAgent, type ContentInput, type JsonObject, type LanefoldError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedModel } from '../../../src/agent/models/scripted/model.ts';
import { startLanefold, type TestLanefold } from '../../support/lanefold.ts';

/** A scripted model that signals each call and answers only once the gate is open. */
function gated() {
  let arrived!: () => void;
  let open!: () => void;
  let called = new Promise<void>((resolve) => (arrived = resolve));
  let gate = new Promise<void>((resolve) => (open = resolve));
  const model = (id: string): LanguageModelV4 => {
    const scripted = createScriptedModel(id);
    return {
      ...scripted,
      doStream: async (options) => {
        arrived();
        await gate;
        return scripted.doStream(options);
      },
    };
  };
  return {
    model,
    called: () => called,
    /** Lets the waiting call and all later ones answer. */
    open: () => open(),
    reset() {
      called = new Promise<void>((resolve) => (arrived = resolve));
      gate = new Promise<void>((resolve) => (open = resolve));
    },
  };
}

describe('steering', () => {
  const gate = gated();
  let lanefold: TestLanefold;
  beforeAll(async () => {
    const agent = defineAgent({ name: 'echo', model: 'gated:echo', maxIterations: 3 });
    lanefold = await startLanefold({ agents: [agent], models: { gated: gate.model } });
    await lanefold.startWorker();
  });
  afterAll(() => lanefold.close());

  const roles = async (threadId: string) =>
    (await lanefold.contexts.project(threadId)).map((row) => `${row.role}: ${String(row.content)}`);

  it('continues the run with input that arrives during the final answer, in order', async () => {
    gate.reset();
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'first' });
    await gate.called();
    expect(await lanefold.runs.steer(run, '  second ')).toMatchObject({ status: 'queued' });
    const receipt = await lanefold.runs.inject(run.threadId, 'third', { inputId: 'in-3', by: 'monitor' });
    const { id: runId, threadId } = run;
    expect(receipt).toEqual({ inputId: 'in-3', threadId, runId, status: 'queued', duplicate: false });
    gate.open();
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'third', iteration: 2 });
    expect(await roles(run.threadId)).toEqual([
      'user: first',
      'assistant: first',
      'user: second',
      'user: third',
      'assistant: third',
    ]);
    const again = await lanefold.runs.inject(run.threadId, 'third', { inputId: 'in-3', by: 'monitor' });
    expect(again).toMatchObject({ status: 'injected', duplicate: true });
    const kinds = (await lanefold.runs.events(run)).map((event) => event.kind);
    expect(kinds.filter((kind) => kind === 'input_injected')).toHaveLength(2);
    expect(kinds.filter((kind) => kind === 'request_completed')).toHaveLength(1);
  });

  it('may have images, which are kept as parts', async () => {
    gate.reset();
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'first' });
    await gate.called();
    const image = Buffer.from('iVBORw0KGgo=', 'base64');
    const parts: ContentInput = [
      { type: 'text', text: 'And this?' },
      { type: 'image', image, mediaType: 'image/png' },
    ];
    const stored = [parts[0], { type: 'file', media_type: 'image/png', data: 'iVBORw0KGgo=' }];
    const steer = (content: ContentInput) => lanefold.runs.steer(run.threadId, content, { inputId: 'look' });
    expect(await steer(parts)).toMatchObject({ status: 'queued' });
    expect(await steer(parts)).toMatchObject({ status: 'queued', duplicate: true });
    await expect(steer('And this?')).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    await expect(steer([{ type: 'image_url', image_url: { url: 'no url' } }])).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(steer([])).rejects.toMatchObject({ code: 'empty_content' });
    expect(await lanefold.runs.inputs(run)).toMatchObject([{ content: stored, status: 'queued' }]);
    gate.open();
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'And this?' });
    const rows = await lanefold.contexts.project(run.threadId);
    expect(rows.map((row) => row.content)).toEqual(['first', 'first', stored, 'And this?']);
    const calls = rows.flatMap(
      ({ refs }) => ((refs as JsonObject | null)?.['llm_call_id'] as string | undefined) ?? [],
    );
    expect(await lanefold.contexts.call(run.threadId, calls[1]!)).toMatchObject({ verified: true });
  });

  it('sends input that arrives before the run starts with its first model call', async () => {
    gate.reset();
    const busy = await lanefold.runs.enqueue({ agent: 'echo', input: 'busy' });
    await gate.called();
    const next = await lanefold.runs.enqueue({ agent: 'echo', input: 'next', threadId: busy.threadId, busy: 'wait' });
    await lanefold.database.pool.query('select lanefold.finish_run($1, $2, null, $3)', [
      busy.threadId,
      busy.id,
      { status: 'failed', reason: 'error' },
    ]);
    expect((await lanefold.runs.steer(busy.threadId, 'and this', { expectedRequestId: next.requestId })).status).toBe(
      'queued',
    );
    gate.open();
    const [job] = [{ thread_id: next.threadId, run_id: next.id, enqueue_no: 1, agent: 'echo' }];
    await lanefold.queues[0]!.add('run', job!, { jobId: `${next.id}.1` });
    expect(await lanefold.runs.wait(next)).toMatchObject({ status: 'completed', result: 'and this', iteration: 1 });
    expect((await roles(busy.threadId)).slice(-3)).toEqual(['user: next', 'user: and this', 'assistant: and this']);
  });

  it('adds the input to the context without an answer if the run is at its limit', async () => {
    gate.reset();
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'only', maxIterations: 1 });
    await gate.called();
    await lanefold.runs.steer(run.threadId, 'too late');
    gate.open();
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', terminationReason: 'max_iterations' });
    expect(await roles(run.threadId)).toEqual(['user: only', 'assistant: only', 'user: too late']);
  });

  it('rejects input with a code and leaves the context unchanged', async () => {
    gate.reset();
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'hold', requestId: 'req-1' });
    await gate.called();
    const { threadId } = run;
    const code = (content: string, options = {}) =>
      lanefold.runs.steer(threadId, content, options).then(
        ({ status }) => status,
        (error: LanefoldError) => error.code,
      );
    expect(await code('x', { expectedRequestId: 'another' })).toBe('other_run_active');
    await expect(lanefold.runs.steer({ threadId, id: 'another' }, 'x')).rejects.toMatchObject({
      code: 'run_not_found',
    });
    await expect(lanefold.runs.steer(threadId, ' \n ')).rejects.toMatchObject({ code: 'empty_content' });
    expect(await code(7 as unknown as string)).toBe('invalid_input');
    await expect(lanefold.runs.steer(threadId, 'x', { role: 'system' } as object)).rejects.toMatchObject({
      code: 'invalid_input',
    });
    for (let i = 0; i < 64; i++) await lanefold.runs.steer(threadId, `input ${i}`);
    expect(await code('one too many')).toBe('queue_full');
    await lanefold.runs.cancel(run);
    // the worker may have ended the run by now
    expect(['run_ending', 'no_active_run']).toContain(await code('after the cancel'));
    expect((await lanefold.runs.wait(run)).status).toBe('cancelled');
    gate.open();
    expect(await code('nobody there')).toBe('no_active_run');
    expect(await roles(threadId)).toEqual(['user: hold']);
    const dropped = await lanefold.database.pool.query(
      "select count(*)::int as n from lanefold.pending_input where thread_id = $1 and status = 'dropped'",
      [threadId],
    );
    expect(dropped.rows[0].n).toBe(64);
  });
});
