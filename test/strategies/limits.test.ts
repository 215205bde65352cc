import { describe, expect, test } from 'vitest';
import { simulate, type Simulation } from 'lanefold/testing';
import type { StrategyDecision, RunFacts } from '../../src/agent/strategies/machine.ts';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { builtIn, type Strategy } from '../../src/agent/strategies/registry.ts';

/** Readable for every strategy; its thoughts are never good enough to end a search. */
const answer = () => '1. 0.1\n2. 0.2\nSCORE: 0.1';

const named = (name: string): Strategy => builtIn.find((strategy) => strategy.name === name)!;
const facts: RunFacts = {
  runId: 'run_1',
  model: 'test:m',
  maxIterations: 10,
  maxModelRetries: 2,
  maxDurationMs: 1_000,
  question: { text: 'Q', parts: [], system: null, history: [] },
};

describe('a limit of the run ends it completed, with what it has and why', () => {
  const limits: [string, Partial<Simulation>][] = [
    ['max_iterations', { facts: { maxIterations: 2 } }],
    ['max_total_tokens', { facts: { maxTotalTokens: 20 } }],
    ['max_duration', { facts: { maxDurationMs: 1_000 }, elapsedMs: () => 1_000 }],
  ];
  const cases = ['tot', 'got', 'trm'].flatMap((name) => limits.map(([reason, more]) => ({ name, reason, more })));
  test.each(cases)('$name: $reason', ({ name, reason, more }) => {
    const run = simulate(named(name), { question: 'Q', answer, ...more });
    expect(run.finish).toMatchObject({ status: 'completed', reason });
    expect(run.calls.length).toBeLessThanOrEqual(2);
  });

  test.each(['react', 'cot', 'cod', 'aot', 'tot', 'got', 'trm'])('%s: the time is up during a call', (name) => {
    const machine = named(name);
    const run = { ...facts, ...(machine.options ? { options: machine.options.parse({}) } : {}) };
    const { state, memory } = machine.start(run) as StrategyDecision;
    const { step } = machine.on(run, state, { type: 'time_up', spent: { tokens: 0, elapsedMs: 1_000 } }, memory);
    expect(step?.finish).toMatchObject({ status: 'completed', reason: 'max_duration' });
    // nothing was answered, so there is no text that could pass for an answer
    const { result } = step!.finish!;
    if (result !== null) expect((result as JsonObject)[name === 'tot' ? 'best' : 'answer']).toBeNull();
    expect(step!.entries ?? []).toEqual([]);
  });
});
