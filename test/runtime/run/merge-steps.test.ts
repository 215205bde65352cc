import { describe, expect, test } from 'vitest';
import { mergeSteps, onlyAdds } from '../../../src/worker/run/decide.ts';
import type { EntryDraft, StepDraft } from '../../../src/agent/strategies/machine.ts';

const entry = (content: string): EntryDraft => ({ role: 'assistant', payload: { content } });
const answered: StepDraft = {
  entries: [entry('a'), entry('b')],
  events: [{ kind: 'llm_completed', iteration: 1, entry: 1 }],
  nodes: [{ node: 1, status: 'answered' }],
};

describe('steps in one commit', () => {
  test('write what both would have written, and refer to the same entries', () => {
    const asksForTools: StepDraft = {
      entries: [entry('c')],
      events: [{ kind: 'llm_completed', iteration: 2, entry: 0 }],
      thenEvents: [{ kind: 'llm_started', iteration: 3, entry: 0 }],
      nodes: [{ node: 2, status: 'tools' }],
      calls: [{ index: 0, id: 'x', name: 'look' }],
    };
    expect(mergeSteps(answered, asksForTools)).toEqual({
      entries: [entry('a'), entry('b'), entry('c')],
      events: [
        { kind: 'llm_completed', iteration: 1, entry: 1 },
        { kind: 'llm_completed', iteration: 2, entry: 2 },
      ],
      thenEvents: [{ kind: 'llm_started', iteration: 3, entry: 2 }],
      nodes: [...answered.nodes!, { node: 2, status: 'tools' }],
      calls: asksForTools.calls,
      callsAt: 2,
    });
  });

  test('may end the run with the second one only', () => {
    const events = [{ kind: 'request_completed' as const, iteration: 2, entry: 0 }];
    const ending: StepDraft = { entries: [entry('z')], finish: { status: 'completed', reason: 'success', events } };
    expect(mergeSteps(answered, ending)).toMatchObject({
      entries: [{ payload: { content: 'a' } }, { payload: { content: 'b' } }, { payload: { content: 'z' } }],
      finish: { reason: 'success', events: [{ entry: 2 }] },
    });
    expect([onlyAdds(answered), onlyAdds(ending)]).toEqual([true, false]);
  });

  test('are the other one where one is missing', () => {
    expect(mergeSteps(undefined, answered)).toBe(answered);
    expect(mergeSteps(answered, undefined)).toBe(answered);
    expect(mergeSteps(undefined, undefined)).toBeUndefined();
  });
});
