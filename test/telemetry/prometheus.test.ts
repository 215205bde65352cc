// @module-tag slow
import { defineAgent, defineTool, ToolError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';
import { until } from '../support/until.ts';

let runtime: Runtime;
let failures = 0;
beforeAll(async () => {
  const look = defineTool({
    name: 'look',
    input: z.object({}),
    retryBackoffMs: 0,
    execute: () => {
      failures += 1;
      if (failures === 1) throw new ToolError('busy', { type: 'transient' });
      return 'seen';
    },
  });
  const agents = [
    defineAgent({ name: 'seer', model: 'fake:0', tools: [look] }),
    defineAgent({ name: 'idle', model: 'scripted:echo' }),
  ];
  runtime = await startRuntime(agents, {
    maxContextBytes: 10_240,
    worker: { metrics: true, leaseMs: 900, sweepMs: 50 },
  });
});
afterAll(() => runtime?.close());

/** The value of a series, by its name and labels as they are written. */
async function valueOf(series: string): Promise<number | undefined> {
  const line = (await runtime.worker.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const valueOnce = (series: string, value: number) =>
  until(`${series} is ${value}`, async () => (await valueOf(series)) === value);

describe('the metrics of a worker', () => {
  test('count and time what its runs do', async () => {
    runtime.model([{ calls: [{ name: 'look' }] }, { text: 'done' }]);
    const { threadId } = await runtime.run({ agent: 'seer', input: 'x' });
    await valueOnce('lanefold_worker_runs_ended_total{agent="seer",status="completed"}', 1);
    const model = 'agent="seer",model="fake:0"';
    expect(await valueOf(`lanefold_worker_model_call_seconds_count{${model},outcome="ok"}`)).toBe(2);
    expect(await valueOf(`lanefold_worker_time_to_first_token_seconds_count{${model}}`)).toBe(2);
    expect(await valueOf('lanefold_worker_tool_call_seconds_count{agent="seer",tool="look",status="ok"}')).toBe(1);
    expect(await valueOf('lanefold_worker_retries_total{agent="seer",of="tool"}')).toBe(1);
    expect(await valueOf('lanefold_worker_claims_total{agent="seer",kind="first"}')).toBe(1);
    expect(await valueOf('lanefold_worker_queue_wait_seconds_count{agent="seer"}')).toBe(1);
    expect(await valueOf(`lanefold_worker_tokens_total{${model},counter="input_tokens"}`)).toBe(20);
    expect(await valueOf('lanefold_worker_commit_seconds_count')).toBeGreaterThanOrEqual(3);
    expect(await valueOf('lanefold_worker_active_runs')).toBe(0);
    expect(await runtime.worker.metrics()).not.toContain(threadId);
  });

  test('count a run that a limit ended as one without an answer', async () => {
    const model = runtime.model([{ calls: [{ name: 'look' }] }]);
    await runtime.run({ agent: 'seer', model: model.id, input: 'x', maxIterations: 1 });
    await valueOnce('lanefold_worker_runs_ended_total{agent="seer",status="no_answer"}', 1);
    expect(await valueOf('lanefold_worker_runs_ended_total{agent="seer",status="completed"}')).toBe(1);
  });

  test('count calls that another model of the chain took over, which are no retries', async () => {
    const overloaded = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    const model = [runtime.model(() => overloaded).id, runtime.model([{ text: 'here' }]).id];
    await runtime.run({ agent: 'seer', model, input: 'x' });
    await valueOnce('lanefold_worker_fallbacks_total{agent="seer",reason="overloaded"}', 1);
    expect(await valueOf('lanefold_worker_fallbacks_total{agent="idle",reason="auth"}')).toBe(0);
    expect(await valueOf('lanefold_worker_retries_total{agent="seer",of="model"}')).toBe(0);
  });

  test('begin at zero, so that a first failure is seen', async () => {
    expect(await valueOf('lanefold_worker_runs_ended_total{agent="idle",status="failed"}')).toBe(0);
    expect(await valueOf('lanefold_worker_runs_refused_total{agent="idle",reason="poisoned"}')).toBe(0);
    expect(await valueOf('lanefold_worker_runs_interrupted_total{agent="idle",reason="lost"}')).toBe(0);
  });

  test('name no model that only a request names', async () => {
    await runtime.run({ agent: 'idle', input: 'x', model: 'scripted:["strange"]' });
    await valueOnce('lanefold_worker_runs_ended_total{agent="idle",status="completed"}', 1);
    expect(await valueOf('lanefold_worker_model_call_seconds_count{agent="idle",model="other",outcome="ok"}')).toBe(1);
    expect(await runtime.worker.metrics()).not.toContain('strange');
  });

  test('see a lease that was lost, and the model call that was made again', async () => {
    const { pool } = runtime.database;
    // with a time to come, the sweep at hand looks at the run: one long past would wait for the next look at all runs
    const stolen = `update lanefold._run set lease = lease + 1, lease_until = now() - interval '1 hour',
      enqueued_at = now() + interval '1 hour' where thread_id = $1`;
    const model = runtime.model(async (_, n) => {
      if (n === 0) await pool.query(stolen, ['robbed']);
      return { text: 'done' };
    });
    await runtime.run({ agent: 'seer', model: model.id, input: 'x', threadId: 'robbed', createThread: true });
    await valueOnce('lanefold_worker_runs_interrupted_total{agent="seer",reason="lost"}', 1);
    await valueOnce('lanefold_worker_lost_model_calls_total{agent="seer"}', 1);
    expect(await valueOf('lanefold_worker_claims_total{agent="seer",kind="resumed"}')).toBe(1);
  });

  test('see the age of leases, model retries and failures', async () => {
    const model = runtime.model(async () => {
      await until(
        'the lease is renewed',
        async () => Number(await valueOf('lanefold_worker_lease_age_seconds_count')) > 0,
      );
      return Object.assign(new Error('no'), { statusCode: 400 });
    });
    await runtime.run({ agent: 'seer', model: model.id, input: 'x' });
    await valueOnce('lanefold_worker_runs_ended_total{agent="seer",status="failed"}', 1);
    expect(
      await valueOf('lanefold_worker_model_call_seconds_count{agent="seer",model="other",outcome="error"}'),
    ).toBeGreaterThanOrEqual(1);
  });

  test('are not kept by a worker that is not asked to', async () => {
    const silent = await runtime.startWorker();
    expect(await silent.metrics()).toBe('');
    await silent.stop();
  });

  test('see a run that a claim ended', async () => {
    let finish: ((turn: { text: string }) => void) | undefined;
    const model = runtime.model(() => new Promise((resolve) => (finish = resolve)));
    const thread = { model: model.id, threadId: 'full', createThread: true, busy: 'wait' as const };
    const first = await runtime.runs.enqueue({ agent: 'seer', input: 'x', ...thread });
    await until('the first run is under way', () => finish !== undefined);
    const second = await runtime.runs.enqueue({ agent: 'seer', input: 'x'.repeat(6_000), ...thread });
    finish!({ text: 'x'.repeat(6_000) });
    expect((await runtime.runs.wait(first)).status).toBe('completed');
    expect((await runtime.runs.wait(second)).error?.type).toBe('context_too_large');
    await valueOnce('lanefold_worker_runs_refused_total{agent="seer",reason="context_too_large"}', 1);
  });
});

describe('with 60 agents, each with a tool and a model of its own', () => {
  const tool = (name: string) => defineTool({ name, input: z.object({}), execute: () => 'seen' });
  const agents = Array.from({ length: 60 }, (_, i) =>
    defineAgent({
      name: `agent-${i}`,
      model: `scripted:[{"tool":"tool-${i}"},"done ${i}"]`,
      tools: [tool(`tool-${i}`)],
    }),
  );
  let many: Runtime;
  beforeAll(async () => {
    many = await startRuntime(agents, { worker: { metrics: true } });
  });
  afterAll(() => many?.close());

  const seriesOf = (text: string) => text.split('\n').filter((line) => line.startsWith('lanefold_worker_'));
  const agentsIn = (series: readonly string[]) =>
    new Set(series.flatMap((line) => /agent="([^"]+)"/.exec(line)?.[1] ?? []));

  test('the first 20 have series of their own, whichever run', async () => {
    const runs = await Promise.all(
      [...agents.slice(0, 24), ...agents.slice(-6)].map(({ name }) => many.runs.enqueue({ agent: name, input: 'x' })),
    );
    for (const run of runs) expect((await many.runs.wait(run)).status).toBe('completed');
    const ended = 'lanefold_worker_runs_ended_total{agent="other",status="completed"} 10';
    await until('all are counted', async () => (await many.worker.metrics()).includes(ended));
    const text = await many.worker.metrics();
    const series = seriesOf(text);
    expect([...agentsIn(series)].sort()).toEqual([...agents.slice(0, 20).map(({ name }) => name), 'other'].sort());
    expect(text).toContain('lanefold_worker_tool_call_seconds_count{agent="other",tool="other",status="ok"} ');
    expect(text).not.toMatch(/agent-59|tool-59|done 59/);
  });

  test('others may be chosen, and only those that there are', async () => {
    const worker = await many.startWorker({ metrics: { agents: ['agent-59'] } });
    expect([...agentsIn(seriesOf(await worker.metrics()))].sort()).toEqual(['agent-59', 'other']);
    await worker.stop();
    await expect(many.startWorker({ metrics: { agents: ['agent-60'] } })).rejects.toMatchObject({
      code: 'unknown_agent',
    });
  });
});
