import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/agent/context/message.ts';
import type { Checked } from '../../src/agent/contracts/contract.ts';
import type { EntryDraft, StrategyEvent, RunFacts } from '../../src/agent/strategies/machine.ts';
import { react, type ReactState } from '../../src/agent/strategies/react.ts';
import { cases } from '../support/cases.ts';
import { answered, call, facts, failed, finished } from './given.ts';

/** What happens at the next decision. */
type Move = {
  /** The result, if it is a model call. */
  answer: StrategyEvent;
  /** The worker dies. */
  crash: boolean;
  /** Input is queued. */
  steered: boolean;
  /** The answer meets the contract. */
  fits: boolean;
};

const calls = fc.array(
  fc.record({ id: fc.constantFrom('', 'a', 'b'), name: fc.constantFrom('x', 'y'), at: fc.constantFrom(1, 2) }),
  { maxLength: 4 },
);
const answer: fc.Arbitrary<StrategyEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: calls.map((list) => answered({ toolCalls: list.map((c) => call(c.id, c.name, { at: c.at })) })),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'yes').map((text) => answered({ text })) },
  { weight: 1, arbitrary: fc.constantFrom('stop', 'tool_calls', 'length').map((r) => answered({ finishReason: r })) },
  { weight: 2, arbitrary: fc.boolean().map((retryable) => failed(retryable)) },
);
const moves = fc.array(fc.record({ answer, crash: fc.boolean(), steered: fc.boolean(), fits: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
});

test('with any answers, crashes and queued input, tool groups stay closed and in order, and the run ends within its limit', () => {
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 6 }), (script, maxIterations) => {
      const { log, turns, ended } = play(script, maxIterations);
      expect(ended).not.toBeNull();
      expect(turns).toBeLessThanOrEqual(maxIterations);
      if (ended !== 'failed') expectClosed(log);
    }),
    { numRuns: cases(60) },
  );
});

const contract = (mode: 'repair' | 'error', maxRepairs: number) => ({ output: { mode, maxRepairs, meta: {} } });

test('with an output contract, the run ends with an object that meets it, without a result at its limit, or fails after its repairs', () => {
  const contracts = fc.tuple(fc.constantFrom('repair' as const, 'error' as const), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 4 }), contracts, (script, maxIterations, [mode, repairs]) => {
      const { log, turns, ended, repaired, result } = play(script, maxIterations, contract(mode, repairs));
      expect(ended).not.toBeNull();
      expect(turns).toBeLessThanOrEqual(maxIterations);
      expect(new Set(repaired).size).toBeLessThanOrEqual(mode === 'error' ? 0 : repairs);
      expect(repaired).toEqual([...repaired].sort());
      if (ended === 'failed') return;
      expectClosed(log);
      expect(result).toEqual(ended === 'max_iterations' ? null : { fits: true });
    }),
    { numRuns: cases(60) },
  );
});

/** Drives the machine as the runtime does. Once the script is used up, every model call gets a final answer. */
function play(script: Move[], maxIterations: number, more: Partial<RunFacts> = {}) {
  const run: RunFacts = { ...facts, maxIterations, ...more };
  const repaired: number[] = [];
  const log: EntryDraft[] = [];
  let committed: ReactState | null = null;
  let turns = 0;
  let decision = react.start(run);
  const queue = [...script];
  for (let n = 0; n < 500; n++) {
    const { command, step } = decision;
    if (command.type === 'fail' && !step) return { log, turns, repaired, ended: 'failed' };
    const move = queue.shift();
    let state = decision.state;
    let continued = false;
    if (step) {
      log.push(...(step.entries ?? []));
      continued = step.continue !== undefined && move?.steered === true;
      const { reason: ended, result } = step.finish ?? {};
      if (ended !== undefined && !continued) return { log, turns, repaired, ended, result };
      if (continued) {
        log.push({ role: 'user', payload: { content: 'steer' } });
        state = step.continue!.state as ReactState;
      }
      if (command.type === 'fail' && !continued && !move?.crash) return { log, turns, repaired, ended: 'failed' };
      committed = JSON.parse(JSON.stringify(state)) as ReactState;
    }
    if (move?.crash) {
      decision = react.resume(run, committed);
    } else if (continued) {
      decision = react.on(run, state, { type: 'continued' });
    } else if (command.type === 'repair_output') {
      repaired.push(command.attempt);
      decision = react.on(run, state, { type: 'output_repaired', checked: checked(move?.fits ?? true) });
    } else if (command.type === 'run_tools') {
      decision = react.on(run, state, finished(command.calls.length > 0 ? command.calls : openCalls(log)));
    } else {
      expectClosed(log);
      const event = move?.answer ?? answered({ text: 'done' });
      if (event.type === 'model_answered') turns += 1;
      const contracted = event.type === 'model_answered' && run.output && event.turn.toolCalls.length === 0;
      decision = react.on(run, state, contracted ? { ...event, checked: checked(move?.fits ?? true) } : event);
    }
  }
  return { log, turns, repaired, ended: null };
}

const checked = (fits: boolean): Checked =>
  fits ? { ok: true, value: { fits: true } } : { ok: false, message: 'It does not fit.' };

const openCalls = (log: EntryDraft[]): ToolCall[] =>
  log.findLast((entry) => entry.role === 'assistant')!.payload['tool_calls'] as unknown as ToolCall[];

/** Each assistant message with calls is followed by one tool message per call, in call order. */
function expectClosed(log: EntryDraft[]): void {
  for (let i = 0; i < log.length; i++) {
    const toolCalls = (log[i]!.payload['tool_calls'] ?? []) as unknown as ToolCall[];
    const answers = log
      .slice(i + 1, i + 1 + toolCalls.length)
      .map((entry) => [entry.role, entry.payload['tool_call_id']]);
    expect(answers).toEqual(toolCalls.map((c) => ['tool', c.id]));
    i += toolCalls.length;
    if (toolCalls.length === 0) expect(log[i]!.role).not.toBe('tool');
  }
}
