// @module-tag long
import { expect, test } from 'vitest';
import { crashEverywhere, simulate } from 'lanefold/testing';
import { selfConsistency } from '../../examples/self-consistency/strategy.ts';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('the majority wins, wherever the worker crashes and in whatever order the samples come', () => {
  const run = (nextOf: (calls: readonly object[]) => number) =>
    crashEverywhere(selfConsistency, {
      question: 'What is 12 * (3 + 4)?',
      nextOf,
      answer: () => 'I think so.\nAnswer: 84',
    });
  const { finish, calls } = run(() => 0);
  expect(calls).toHaveLength(5);
  expect(finish).toMatchObject({ reason: 'majority', result: { answer: '84', votes: 5, of: 5, others: [] } });
  expect(run((waiting) => waiting.length - 1).finish).toEqual(finish);
});

test('the most frequent answer is the result; of equals the first', () => {
  const answers = ['85', '84', 'none', '84', '85'];
  const { finish } = simulate(selfConsistency, {
    question: 'x',
    answer: ({ callId }) => `Answer: ${answers[Number(callId.split('.')[1]) - 1]}`,
  });
  expect(finish!.result).toMatchObject({ answer: '85', votes: 2, others: [{ answer: '84' }, { answer: 'none' }] });
});

test('the program runs offline', async () => {
  const { code, output, errors } = await startProgram('examples/self-consistency/main.ts', {
    env,
  }).ended;
  expect([code, errors]).toEqual([0, '']);
  expect(output).toContain('completed: {"of":5,"votes":5,"answer":"84","others":[]}');
  expect(output.match(/^ {2}sample \d: Answer: 84$/gm)).toHaveLength(5);
});
