import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simulate, type SimulatedCall, type SimulatedRun } from 'lanefold/testing';
import { defineStrategy } from '../../src/agent/strategies/inquiry/machine.ts';
import type { EntryDraft, StepDraft } from '../../src/agent/strategies/machine.ts';
import { cases } from '../support/cases.ts';
import { call } from './given.ts';

/** Asks three questions together, each with tools, then one about their answers. */
const wide = defineStrategy({
  name: 'wide',
  tools: true,
  begin: () => ({
    memory: { first: true, found: '' } as { first: boolean; found: string },
    questions: ['A', 'B', 'C'].map((prompt) => ({ purpose: 'part', prompt, tools: true })),
  }),
  learn: ({ first }, answers, { usage }) => {
    const found = answers.map(({ text, rounds }) => `${text}${rounds}`).join(' ');
    const memory = { first: false, found };
    if (first) return { memory, questions: [{ purpose: 'whole', prompt: `D after ${found}` }] };
    return { memory, end: { reason: 'success', answer: found, result: { found, usage: { ...usage } } } };
  },
  best: ({ found }, { reason }, { usage }) => ({ reason, answer: null, result: { found, usage: { ...usage } } }),
});

const isTool = ({ role }: { role: string }) => role === 'tool';
const questionOf = ({ messages }: SimulatedCall): string =>
  messages.findLast(({ role }) => role === 'user')!.content as string;

interface Plan {
  /** How many tool rounds A, B and C have before their answer. */
  rounds: Record<string, number>;
  tokens: Record<string, number>;
  maxTotalTokens?: number | undefined;
  maxIterations: number;
}

/** A run whose tools change the state; what happened outside the strategy is in `seen`. */
function drive({ rounds, tokens, ...limits }: Plan, order: readonly number[], crashAt: readonly number[] = []) {
  const seen: string[] = [];
  let turn = 0;
  const run = simulate(wide, {
    question: 'Q',
    facts: { maxIterations: limits.maxIterations, ...(limits.maxTotalTokens ? limits : {}) },
    crashAt,
    nextOf: (calls) => (order[turn++ % order.length] ?? 0) % calls.length,
    answer: (made) => {
      const question = questionOf(made)[0]!;
      const done = made.messages.filter(isTool).length;
      seen.push(`model ${question}`);
      const total = tokens[question]! + done;
      const usage = { input_tokens: 0, output_tokens: total, total_tokens: total };
      if (done >= (rounds[question] ?? 0)) return { text: question.toLowerCase(), usage };
      return { usage, toolCalls: [call(`${question}${done}`)] };
    },
    tool: ({ id }) => {
      seen.push(`tool ${id}`);
      return { effects: [{ op: 'set_path', path: ['choice'], value: id }] };
    },
  });
  return { ...run, seen };
}

/** All that must not depend on which call was faster. Entries have an order within their lane only. */
function outcomeOf({ finish, steps, store, seen }: SimulatedRun & { seen: string[] }): unknown {
  const laneOf = ({ contextRef = '' }: EntryDraft) => contextRef;
  const lanes = store.entries.toSorted((a, b) => laneOf(a).localeCompare(laneOf(b)));
  const effects = steps.flatMap(({ effects: made }) => made ?? []);
  const nodes = [...store.nodes.values()].sort((a, b) => a.node - b.node);
  return { finish, lanes, effects, nodes, tools: seen.filter((what) => what.startsWith('tool')) };
}

const perQuestion = (values: fc.Arbitrary<number>) => fc.record({ A: values, B: values, C: values, D: values });
const plans: fc.Arbitrary<Plan> = fc.record({
  rounds: perQuestion(fc.nat(3)).map((rounds) => ({ ...rounds, D: 0 })),
  tokens: perQuestion(fc.integer({ min: 1, max: 20 })),
  maxTotalTokens: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
  maxIterations: fc.integer({ min: 3, max: 14 }),
});
const orders = fc.array(fc.nat(2), { minLength: 1, maxLength: 12 });

describe('the order in which answers come', () => {
  test('changes neither the result, nor the tools that run, nor the state they leave', () => {
    fc.assert(
      fc.property(plans, orders, (plan, order) => {
        expect(outcomeOf(drive(plan, order))).toEqual(outcomeOf(drive(plan, [0])));
      }),
      { numRuns: cases(60) },
    );
  });

  test('changes nothing after a crash either', () => {
    const lasting = (run: ReturnType<typeof drive>) => {
      const { finish, effects } = outcomeOf(run) as { finish: StepDraft['finish']; effects: unknown };
      return { finish, effects };
    };
    fc.assert(
      fc.property(plans, orders, fc.array(fc.nat(30), { maxLength: 3 }), (plan, order, crashAt) => {
        expect(lasting(drive(plan, order, crashAt))).toEqual(lasting(drive(plan, [0])));
      }),
      { numRuns: cases(60) },
    );
  });

  test('lets tool rounds follow each other, without a model call between them', () => {
    const plan: Plan = { rounds: { A: 2, B: 1, C: 0 }, tokens: { A: 1, B: 1, C: 1, D: 1 }, maxIterations: 20 };
    const { seen, steps } = drive(plan, [1, 1, 0]);
    expect(seen).toEqual([
      'model B',
      'model C',
      'model A',
      'tool A0',
      'tool B0',
      'model B',
      'model A',
      'tool A1',
      'model A',
      'model D',
    ]);
    // the commit that ends a round starts the next
    expect(steps.filter(({ outcomes, calls }) => outcomes && calls)).toHaveLength(1);
  });
});
