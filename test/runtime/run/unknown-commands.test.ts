import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StrategyDecision, StrategyMachine, StrategyEvent } from '../../../src/agent/strategies/machine.ts';
import { react } from '../../../src/agent/strategies/react.ts';

import { expectSound } from '../../support/log.ts';
import { facts, llm } from '../../strategies/given.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

/** A strategy that issues a command the runtime cannot execute. */
const odd = (name: string, command: object): StrategyMachine => ({
  name,
  tools: true,
  output: true,
  start: () => ({ state: { phase: 'llm', iteration: 1, round: 0 }, command }) as StrategyDecision,
  resume: () => ({ state: { phase: 'llm', iteration: 1, round: 0 }, command }) as StrategyDecision,
  on: () => ({ state: { phase: 'llm', iteration: 1, round: 0 }, command }) as StrategyDecision,
});

describe('unknown commands and events', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    const strategies = [odd('dancer', { type: 'dance' }), odd('quitter', { type: 'finish' })];
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset })], { strategies });
  });
  afterAll(() => lanefold?.close());

  test.each([
    ['dancer', /dancer returned an unknown command.*dance/],
    ['quitter', /quitter ended without a terminal commit/],
  ])('an invalid command from the strategy %s fails the run', async (strategy, message) => {
    const { threadId, run } = await lanefold.run({ agent: 'a', input: 'x', strategy });
    expect(run).toMatchObject({
      status: 'failed',
      error: { type: 'internal', message: expect.stringMatching(message) },
    });
    await expectSound(lanefold, threadId);
  });

  test('an unknown event makes the machine throw', () => {
    expect(() => react.on(facts, llm, { type: 'rained' } as unknown as StrategyEvent)).toThrow(
      /react does not know .*rained/,
    );
  });
});
