import { defineAgent, type AgentDefinition, type EnqueueOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { runOptions, type RunOption } from '../../src/agent/definition/option-table.ts';
import { optionsWith, problemOf, type RunOptionName } from '../../src/agent/definition/options.ts';
import { handedOver, optionsInEval, repeatedOptions, undecided } from '../../src/agent/definition/run-options.ts';
import { toSnakeCase } from '../../src/base/common/case.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const all = Object.entries<RunOption>(runOptions);
/** What each option stores, under its stored name. */
const stored = Object.fromEntries(all.map(([name]) => [toSnakeCase(name), name]));
const added = { agent_model: 'm', pinned: 'v_1', selection: {}, prompt: 'p', retry_of: 'run_1', handoffs: [] };

test('an option that may only be lowered bears a number and is one of the agent', () => {
  const lowered = optionsWith({ override: 'lower' });
  expect(lowered.length).toBeGreaterThan(0);
  expect(
    lowered.filter((name) => !(runOptions[name].schema instanceof z.ZodNumber) || !runOptions[name].agent),
  ).toEqual([]);
});

test('agents and requests take an option of the table under the same name, with the type of its schema', () => {
  expectTypeOf<AgentDefinition['maxDurationMs']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<EnqueueOptions['streaming']>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<EnqueueOptions['onFailure']>().toEqualTypeOf<'keep' | 'rewind' | undefined>();
});

test('each number, switch and choice is refused with what it must be, and any other value left to its reader', () => {
  for (const [name, { schema }] of all) {
    const problem = problemOf(name as RunOptionName, { not: 'right' });
    const checked = schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum;
    if (checked) expect(problem).toMatch(/^must be .+; got \{"not":"right"\}$/);
    else expect(problem).toBeUndefined();
  }
  expect(problemOf('maxIterations', 10_001)).toBe('must be a whole number from 1 to 10000; got 10001');
  expect(problemOf('maxTotalTokens', 0)).toBe('must be a whole number of at least 1; got 0');
  expect(problemOf('onFailure', 'keep')).toBeUndefined();
});

test('a handoff, an eval and a repeat keep what the table says', () => {
  const options = { ...stored, ...added } as never;
  const kept = (has: (option: RunOption) => boolean) =>
    all.filter(([, option]) => has(option)).map(([name]) => toSnakeCase(name));
  const names = (left: object) => Object.keys(left).sort();
  expect(names(handedOver(options))).toEqual(
    [...kept(({ handoff }) => handoff === 'kept'), 'handoffs', 'retry_of'].sort(),
  );
  expect(names(optionsInEval(options, true))).toEqual(
    kept(({ evals }) => evals === 'kept' || evals === 'same agent').sort(),
  );
  expect(names(optionsInEval(options, false))).toEqual(kept(({ evals }) => evals === 'kept').sort());
  expect(repeatedOptions({ ...stored, ...added })).toEqual({ ...stored, ...added, pinned: true, retry_of: undefined });
  expect(names(undecided(options))).not.toContain('prompt');
});

describe('a request with a misspelt or wrong option', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  test.each([
    [{ maxDurationMS: 1 }, 'Did you mean "maxDurationMs"?'],
    [{ maxDurationMs: 0.5 }, 'Omit it to use the agent’s own.'],
    [{ priority: -1 }, 'Omit it to go first.'],
    [{ onFailure: 'restart' }, 'Omit it to use the agent’s own.'],
  ])('%j is refused with a hint', async (wrong, hint) => {
    const options = { agent: 'a', input: 'x', ...wrong } as EnqueueOptions;
    await expect(lanefold.runs.enqueue(options)).rejects.toMatchObject({ code: 'invalid_input', hint });
  });
});
