// @module-tag slow
import { createLanefold, defineAgent, defineTool, type Run } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startHarness } from '../faults/harness.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

import { entriesOf, eventsOf, expectSound } from '../support/log.ts';
import { deferred } from '../support/until.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'the secret plan' });

describe('checkpoint tokens', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    const agent = defineAgent({ name: 'solo', model: unset, instructions: 'Mind the plan.', tools: [look] });
    runtime = await startRuntime([agent], { tokenSecrets: ['first', 'second'] });
  });
  afterAll(() => runtime?.close());

  const payloadOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

  /** A run whose second model call is in progress until `gate` opens. */
  async function held() {
    const gate = deferred();
    const arrived = deferred();
    const { id: model } = runtime.model(async (_, n) => {
      if (n === 0) return { calls: [{ name: 'look' }] };
      arrived.resolve();
      await gate.promise;
      return { text: 'the answer' };
    });
    const run = await runtime.runs.enqueue({ agent: 'solo', model, input: 'the question' });
    await arrived.promise;
    return { run, gate };
  }
  const done = async (text = 'done') => {
    const { id: model } = runtime.model([{ text }]);
    return runtime.run({ agent: 'solo', model, input: 'go' });
  };

  test('identify a run and its step, and contain nothing of the conversation', async () => {
    const { run, gate } = await held();
    const minted = await runtime.runs.checkpoint(run, { expiresInMs: 60_000 });
    expect(minted).toMatchObject({ threadId: run.threadId, runId: run.id, step: 2, expiresAt: expect.any(Date) });
    const payload = payloadOf(minted.token);
    expect(payload).toMatchObject({
      thread_id: run.threadId,
      run_id: run.id,
      step: 2,
      exp_ms: minted.expiresAt!.getTime(),
      state: { context: 'default', status: 'running', iteration: 2 },
    });
    expect(JSON.stringify(payload)).not.toMatch(/question|plan|answer/);
    expect(payload['exp_ms'] as number).toBe((payload['iat_ms'] as number) + 60_000);
    const usual = await runtime.runs.checkpoint(run);
    const { iat_ms: issued } = payloadOf(usual.token) as { iat_ms: number };
    expect(usual.expiresAt!.getTime() - issued).toBe(30 * 86_400_000);
    expect((await runtime.runs.checkpoint(run, { expiresInMs: null })).expiresAt).toBeNull();
    gate.resolve();
    await runtime.runs.wait(run);
  });

  test('of an active run cannot resume it; once it has ended, they return its result', async () => {
    const { run, gate } = await held();
    const { token } = await runtime.runs.checkpoint(run);
    await expect(runtime.runs.resume(token)).rejects.toMatchObject({ code: 'run_active' });
    await expect(runtime.runs.resume(token, { query: 'more' })).rejects.toMatchObject({ code: 'run_active' });
    expect(await runtime.runs.collect(token, { runUntilTerminal: false })).toMatchObject({
      run: { status: 'running' },
      result: null,
      terminationReason: null,
      finalToken: token,
      trace: [],
    });
    const collected = runtime.runs.collect(token, { timeoutMs: 30_000 });
    gate.resolve();
    const { run: ended, trace, finalToken, ...rest } = await collected;
    expect(rest).toMatchObject({
      result: 'the answer',
      terminationReason: 'final_answer',
      usage: { total_tokens: 30 },
    });
    expect(ended).toMatchObject({ id: run.id, status: 'completed', resumedFrom: null });
    expect(trace.map((event) => event.kind)).toEqual(
      (await eventsOf(runtime, run.threadId)).map((event) => event.kind),
    );
    expect(payloadOf(finalToken!)).toMatchObject({ step: ended.step, state: { status: 'completed' } });
    const before = await entriesOf(runtime, run.threadId);
    for (const some of [token, finalToken!, token]) {
      expect(await runtime.runs.resume(some)).toMatchObject({ id: run.id, status: 'completed', result: 'the answer' });
    }
    expect(await runtime.runs.resume(token, { query: ' \n' })).toMatchObject({ id: run.id });
    expect(await entriesOf(runtime, run.threadId)).toEqual(before);
    await expectSound(runtime, run.threadId);
  });

  test('with a query start a new run on the same lane, once per request id', async () => {
    const { run: first } = await runtime.run({
      agent: 'solo',
      model: runtime.model([{ text: 'one' }, { text: 'two' }]).id,
      contextRef: 'side',
      input: 'go',
      limitKeys: { customer: 'acme' },
    });
    const { token } = await runtime.runs.checkpoint(first);
    const ask = () => runtime.runs.resume(token, { query: 'and now?', requestId: 'again' });
    const next = await ask();
    expect(next).toMatchObject({
      threadId: first.threadId,
      contextRef: 'side',
      requestId: 'again',
      resumedFrom: first.id,
    });
    expect(next.id).not.toBe(first.id);
    expect(await runtime.runs.wait(next)).toMatchObject({
      result: 'two',
      resumedFrom: first.id,
    });
    expect((await ask()).id).toBe(next.id);
    const rows = await runtime.contexts.project(first.threadId, { contextRef: 'side' });
    expect(rows.map((row) => row.content)).toEqual(['Mind the plan.', 'go', 'one', 'and now?', 'two']);
    const { rows: stored } = await runtime.database.pool.query(
      "select options ->> 'resumed_from' as resumed_from, options -> 'limit_keys' as keys from lanefold.run where id = $1",
      [next.id],
    );
    expect(stored).toEqual([{ resumed_from: first.id, keys: { customer: 'acme' } }]);
    await expect(runtime.runs.resume(token, { query: 'other', requestId: 'again' })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });

  test('can cancel their run, and are stale afterwards', async () => {
    const { run, gate } = await held();
    const { token } = await runtime.runs.checkpoint(run);
    expect(await runtime.runs.cancel(token, 'enough')).toMatchObject({ accepted: true });
    await expect(runtime.runs.resume(token)).rejects.toMatchObject({ code: 'token_stale' });
    expect(await runtime.runs.wait(run)).toMatchObject({ status: 'cancelled', error: { message: 'enough' } });
    gate.resolve();
    await expect(runtime.runs.resume(token)).rejects.toMatchObject({ code: 'token_stale' });
    await expect(runtime.runs.resume(token, { query: 'rise' })).rejects.toMatchObject({ code: 'token_stale' });
    await expect(runtime.runs.checkpoint(run)).rejects.toMatchObject({ code: 'token_stale' });
    expect(await runtime.runs.collect(token)).toMatchObject({
      run: { status: 'cancelled' },
      result: null,
      terminationReason: 'cancelled',
      finalToken: null,
    });
    expect(await runtime.runs.cancel(token)).toEqual({ status: 'cancelled', accepted: false });
  });

  test('of a waiting run leave it waiting', async () => {
    const { run, gate } = await held();
    const waiting = await runtime.runs.enqueue({ agent: 'solo', input: 'next', threadId: run.threadId, busy: 'wait' });
    const { token, step } = await runtime.runs.checkpoint(waiting);
    expect(step).toBe(0);
    expect(await runtime.runs.resume(token)).toMatchObject({ id: waiting.id, status: 'waiting' });
    gate.resolve();
    expect(await runtime.runs.wait(waiting)).toMatchObject({ status: 'completed' });
  });

  test('require a secret that all processes share, and an unchanged agent', async () => {
    const { run } = await done();
    const { token } = await runtime.runs.checkpoint(run);
    const other = async (options: object, name = 'solo', more = {}) => {
      const agent = defineAgent({ name, model: unset, instructions: 'Mind the plan.', tools: [look], ...more });
      const lanefold = await createLanefold({ ...runtime.options, agents: [agent], ...options });
      const outcome = async (work: Promise<unknown>) =>
        work.then(
          () => 'fine',
          (error: { code: string; hint: string }) => error,
        );
      const answers = {
        resume: await outcome(lanefold.runs.resume(token)),
        mint: await outcome(lanefold.runs.checkpoint(run)),
      };
      await lanefold.close();
      return answers;
    };
    const none = expect.objectContaining({
      code: 'missing_token_secret',
      hint: expect.stringContaining('LANEFOLD_TOKEN_SECRET'),
    });
    expect(await other({ tokenSecrets: ['', ' '] })).toEqual({ resume: none, mint: none });
    expect(await other({ tokenSecrets: ['new', 'first'] })).toEqual({ resume: 'fine', mint: 'fine' });
    expect(await other({ tokenSecrets: ['new'] })).toMatchObject({ resume: { code: 'invalid_token_signature' } });
    expect(await other({}, 'solo', { instructions: 'Another.' })).toMatchObject({
      resume: { code: 'token_config_mismatch' },
    });
    expect(await other({}, 'other')).toMatchObject({
      resume: { code: 'token_config_mismatch' },
      mint: { code: 'unknown_agent' },
    });
    process.env['LANEFOLD_TOKEN_SECRET'] = ' new , first ';
    try {
      expect(await other({ tokenSecrets: [] })).toEqual({ resume: 'fine', mint: 'fine' });
    } finally {
      delete process.env['LANEFOLD_TOKEN_SECRET'];
    }
  });

  test('require a valid lifetime and an existing run', async () => {
    const { run } = await done();
    for (const expiresInMs of [0, -1, 1.5, NaN, 1e300]) {
      await expect(runtime.runs.checkpoint(run, { expiresInMs })).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(runtime.runs.checkpoint({ threadId: run.threadId, id: 'nobody' })).rejects.toMatchObject({
      code: 'run_not_found',
    });
    const { token } = await runtime.runs.checkpoint(run);
    await runtime.threads.erase(run.threadId);
    await expect(runtime.runs.resume(token)).rejects.toMatchObject({ code: 'thread_erased' });
    await expect(runtime.runs.resume(token, { query: 'x' })).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

describe('a run whose worker died', () => {
  test('resumes from a token of its current step, and from no other', async () => {
    const bench = await startHarness({ tokenSecrets: ['s'] });
    try {
      const arrived = [deferred(), deferred()];
      const gates = [deferred(), deferred()];
      bench.callServer.respond = async (call) => {
        if (call.kind === 'tool') return { result: 1 };
        if (call.worker !== 'first') return { text: `said by ${call.worker}` };
        arrived[call.turn]!.resolve();
        await gates[call.turn]!.promise;
        return { calls: [{ name: 'look' }] };
      };
      const onlyByToken = { leaseMs: 120_000, sweepMs: 3_600_000 };
      const first = await bench.spawnWorker({ name: 'first', worker: onlyByToken });
      const run = await bench.runs.enqueue({ agent: 'fault', input: 'go' });
      await arrived[0]!.promise;
      const early = await bench.runs.checkpoint(run);
      gates[0]!.resolve();
      await arrived[1]!.promise;
      const { token } = await bench.runs.checkpoint(run);
      await first.kill();
      await expect(bench.runs.resume(token)).rejects.toMatchObject({ code: 'run_active' });

      await bench.expireLease(run.threadId);
      await expect(bench.runs.resume(early.token)).rejects.toMatchObject({ code: 'token_stale' });
      expect(await bench.runs.resume(token)).toMatchObject({ id: run.id, status: 'running' } satisfies Partial<Run>);
      await bench.spawnWorker({ name: 'second', worker: onlyByToken });
      expect(await bench.runs.wait(run)).toMatchObject({
        status: 'completed',
        result: 'said by second',
      });
      expect(await bench.runs.resume(early.token)).toMatchObject({ id: run.id, result: 'said by second' });
      await expectSound(bench, run.threadId);
    } finally {
      await bench.close();
    }
  });
});
