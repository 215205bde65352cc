import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/context/message.ts';
import type { EntryDraft, MachineEvent } from '../../src/strategies/machine.ts';
import { react } from '../../src/strategies/react/index.ts';
import type { ReactState } from '../../src/strategies/react/state.ts';
import { answered, call, facts, failed, finished } from './given.ts';

/** What the world does next: answers a model call, kills the worker, or has input waiting at the end. */
type Move = { answer: MachineEvent; crash: boolean; steered: boolean };

const calls = fc.array(
  fc.record({ id: fc.constantFrom('', 'a', 'b'), name: fc.constantFrom('x', 'y'), at: fc.constantFrom(1, 2) }),
  { maxLength: 4 },
);
const answer: fc.Arbitrary<MachineEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: calls.map((list) => answered({ toolCalls: list.map((c) => call(c.id, c.name, { at: c.at })) })),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'yes').map((text) => answered({ text })) },
  { weight: 1, arbitrary: fc.constantFrom('stop', 'tool_calls', 'length').map((r) => answered({ finishReason: r })) },
  { weight: 2, arbitrary: fc.boolean().map((retryable) => failed(retryable)) },
);
const moves = fc.array(fc.record({ answer, crash: fc.boolean(), steered: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
});

test('any answers, crashes and steering: groups stay closed and in order, and the run ends within its model calls', () => {
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 6 }), (script, maxIterations) => {
      const { log, turns, ended } = play(script, maxIterations);
      expect(ended).not.toBeNull();
      expect(turns).toBeLessThanOrEqual(maxIterations);
      if (ended !== 'failed') expectClosed(log);
    }),
    { numRuns: 300 },
  );
});

/** Interprets the machine as the runtime does; after the script every model call is answered. */
function play(script: Move[], maxIterations: number) {
  const run = { ...facts, maxIterations };
  const log: EntryDraft[] = [];
  let committed: ReactState | null = null;
  let turns = 0;
  let decision = react.start(run);
  const queue = [...script];
  for (let n = 0; n < 500; n++) {
    const { command, step } = decision;
    if (command.type === 'fail') return { log, turns, ended: 'failed' };
    const move = queue.shift();
    let state = decision.state;
    let continued = false;
    if (step) {
      log.push(...(step.entries ?? []));
      if (step.finish && !(step.continue && move?.steered)) return { log, turns, ended: step.finish.reason };
      if (step.finish) {
        log.push({ role: 'user', payload: { content: 'steer' } });
        state = step.continue!.state as ReactState;
        continued = true;
      }
      committed = JSON.parse(JSON.stringify(state)) as ReactState;
    }
    if (move?.crash) {
      decision = react.resume(run, committed);
    } else if (continued) {
      decision = react.on(run, state, { type: 'continued' });
    } else if (command.type === 'run_tools') {
      decision = react.on(run, state, finished(command.calls.length > 0 ? command.calls : openCalls(log)));
    } else {
      expectClosed(log);
      const event = move?.answer ?? answered({ text: 'so be it' });
      if (event.type === 'model_answered') turns += 1;
      decision = react.on(run, state, event);
    }
  }
  return { log, turns, ended: null };
}

const openCalls = (log: EntryDraft[]): ToolCall[] =>
  log.findLast((entry) => entry.role === 'assistant')!.payload['tool_calls'] as unknown as ToolCall[];

/** I4: each assistant message with calls is followed by one tool message per call, in call order. */
function expectClosed(log: EntryDraft[]): void {
  for (let i = 0; i < log.length; i++) {
    const asked = (log[i]!.payload['tool_calls'] ?? []) as unknown as ToolCall[];
    const told = log.slice(i + 1, i + 1 + asked.length).map((entry) => [entry.role, entry.payload['tool_call_id']]);
    expect(told).toEqual(asked.map((c) => ['tool', c.id]));
    i += asked.length;
    if (asked.length === 0) expect(log[i]!.role).not.toBe('tool');
  }
}
