// @module-tag slow
import { defineAgent, defineTool, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOf, expectSound } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({ at: z.number() }), execute: ({ at }) => at });
const agent = defineAgent({ name: 'walker', model: unset, tools: [look], maxIterations: 50, maxToolCalls: 210 });
const droppable = ['llm_started', 'tool_started'];

describe('the trace of a run', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await startRuntime([agent]);
    await runtime.worker.stop();
  });
  afterAll(() => runtime?.close());

  /** Runs `rounds` rounds of one tool with this cap on the trace. */
  async function walk(rounds: number, maxTraceEvents?: number) {
    const worker = await runtime.startWorker({ ...(maxTraceEvents !== undefined && { maxTraceEvents }) });
    try {
      const turns = Array.from({ length: rounds }, (_, at) => ({ calls: [{ name: 'look', args: { at } }] }));
      const run = await runtime.run({
        agent: 'walker',
        model: runtime.model([...turns, { text: 'there' }]).id,
        input: 'go',
      });
      const events = await eventsOf(runtime, run.threadId);
      await expectSound(runtime, run.threadId);
      return { run: run.run, kinds: events.map((event) => event.kind), truncated: await truncated(run) };
    } finally {
      await worker.stop();
    }
  }
  const truncated = async (run: RunHandle) => {
    const { rows } = await runtime.database.pool.query<{ trace_truncated: boolean; event_count: number }>(
      'select trace_truncated, event_count from lanefold.run where thread_id = $1 and id = $2',
      [run.threadId, run.id],
    );
    return rows[0]!;
  };

  test('keeps every event up to the cap, then drops llm_started and tool_started', async () => {
    const whole = await walk(8);
    expect(whole.truncated).toEqual({ trace_truncated: false, event_count: whole.kinds.length });
    for (const cap of [10, 11, 12, 13]) {
      const cut = await walk(8, cap);
      expect(cut.run).toMatchObject({ status: 'completed', result: 'there', iteration: 9 });
      const later = whole.kinds.slice(cap).filter((kind) => !droppable.includes(kind));
      expect(cut.kinds).toEqual([...whole.kinds.slice(0, cap), ...later]);
      expect(cut.truncated).toEqual({ trace_truncated: true, event_count: cut.kinds.length });
    }
  });

  test('is complete if its length equals the cap', async () => {
    const { kinds } = await walk(3);
    const exact = await walk(3, kinds.length);
    expect(exact.kinds).toEqual(kinds);
    expect(exact.truncated.trace_truncated).toBe(false);
  });

  test('is capped at 2,000 events by default', async () => {
    const calls = Array.from({ length: 210 }, (_, at) => ({ id: `c${at}`, name: 'look', args: { at } }));
    const { id: model } = runtime.model((_, n) => (n < 6 ? { calls } : { text: 'there' }));
    const worker = await runtime.startWorker();
    const run = await runtime.run({ agent: 'walker', model, input: 'go' });
    await worker.stop();
    const events = await eventsOf(runtime, run.threadId);
    const late = events.slice(2_000).map((event) => event.kind);
    expect(events.slice(0, 2_000).filter((event) => event.kind === 'tool_started')).toHaveLength(5 * 210);
    expect(late.filter((kind) => droppable.includes(kind))).toEqual([]);
    expect(late).toContain('request_completed');
    expect(await truncated(run)).toEqual({ trace_truncated: true, event_count: events.length });
    await expectSound(runtime, run.threadId);
  });
});
