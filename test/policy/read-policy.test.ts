import { expect, test } from 'vitest';
import { limitsOf } from '../../src/agent/policy/policy.ts';
import { type PolicyOption } from '../../src/agent/policy/types.ts';
import { readPolicy, readPolicyJson } from '../../src/agent/policy/read-policy.ts';

const limits = (policy: PolicyOption, window?: number, maxOutputTokens?: number) => {
  const { budget, ceiling } = limitsOf(readPolicy(policy), { model: 'm', window, maxOutputTokens });
  return [budget, ceiling];
};

test('fills in the defaults, of presets too', () => {
  expect(readPolicy({})).toEqual({
    max_messages: 0,
    keep_last_turns: 3,
    summarization: 'use_existing',
    summary_role: 'system',
    include_kinds: ['message', 'tool_call', 'tool_result', 'summary'],
    token_estimator: 'calibrated',
  });
  expect(readPolicy('short_context')).toMatchObject({ max_input_tokens: 6_000, keep_last_turns: 2 });
  expect(readPolicy('long_context')).toMatchObject({ max_input_tokens: 100_000, keep_last_turns: 10 });
  expect(readPolicy('tool_focused')).toMatchObject({ keep_last_turns: 5, summarization: 'none' });
  expect(readPolicyJson({ max_input_tokens: 9 })).toEqual(readPolicy({ maxInputTokens: 9 }));
});

test.each([
  [{ maxInputTokens: 8_000 }, undefined, [6_000, null]],
  [{ maxInputTokens: 40, reserveOutputTokens: 0 }, undefined, [40, null]],
  [{ maxInputTokens: 300 }, undefined, [200, null]],
  [{}, undefined, [null, null]],
  [{}, 8_000, [7_000, 7_000]],
  ['window' as const, 400_000, [368_000, 368_000]],
  [{ maxInputTokens: null }, 8_000, [null, 7_000]],
  [{ maxInputTokens: 100_000 }, 8_000, [7_000, 7_000]],
  [{ reserveOutputTokens: 9_000 }, 8_000, [4_000, 4_000]],
])('%j on a window of %s leaves %j for the context', (policy, window, expected) => {
  expect(limits(policy, window)).toEqual(expected);
});

test('leaves what the settings allow the answer, and names itself by all of it', () => {
  expect(limits({}, 8_000, 500)).toEqual([7_500, 7_500]);
  const hash = (window: number) => limitsOf(readPolicy({}), { model: 'm', window }).hash;
  expect(hash(8_000)).toMatch(/^[0-9a-f]{64}$/);
  expect(hash(8_000)).not.toBe(hash(9_000));
});

test('refuses a model without a window only where that is demanded', () => {
  expect(() => limits({ maxInputTokens: 'window' })).toThrow(expect.objectContaining({ code: 'unknown_window' }));
});

test.each([
  [{ maxInputTokens: 0 }, /max_input_tokens/],
  [{ maxInputTokens: 100, reserveOutputTokens: 100 }, /reserve_output_tokens/],
  [{ maxMessages: 2, keepLastTurns: 3 }, /keep_last_turns/],
  [{ includeKinds: ['tool_call', 'tool_result'] }, /include_kinds/],
  [{ includeKinds: ['message', 'tool_call'] }, /include_kinds/],
  [{ systemPrompt: ' \n' }, /system_prompt/],
  [{ summarization: 'later' }, /summarization/],
  [{ colour: 'red' }, /colour/],
  [{ max_input_tokens: '8000' }, /max_input_tokens/],
  ['huge', /"huge"/],
  [7, /object/],
  [[], /object/],
])('refuses %j', (policy, message) => {
  expect(() => readPolicy(policy as PolicyOption)).toThrow(
    expect.objectContaining({ code: 'invalid_policy', message: expect.stringMatching(message) }),
  );
});
