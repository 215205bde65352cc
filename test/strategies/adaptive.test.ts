import { expect, test } from 'vitest';
import { adaptiveOptions, select } from '../../src/agent/strategies/adaptive.ts';

const choose = (question: string, options: object = {}) => select(question, adaptiveOptions.parse(options));

test.each<[string, object, string, string, number?]>([
  ['What is the capital of France?', {}, 'cod', 'simple_query', 0.098],
  ['', {}, 'cod', 'general', 0.003],
  ['Because of the weather, who is there?', {}, 'react', 'tool_use'],
  ['Help me budget for a house', {}, 'react', 'tool_use'],
  ['Analyze the network of dependencies', {}, 'got', 'synthesis'],
  ['Combine search results', {}, 'got', 'synthesis'],
  ['Improve the search tool', {}, 'trm', 'iterative_reasoning'],
  ['Consider multiple options for the design', {}, 'tot', 'exploration'],
  ['Consider multiple options for the design', { available: ['tot', 'aot'] }, 'aot', 'exploration'],
  [
    'You must plan a party. You should invite people. You have to book a hall. You need to pay. Who will cater?',
    {},
    'react',
    'simple_query',
    0.466,
  ],
  ['Search for information', { available: ['cot', 'tot'] }, 'cot', 'tool_use'],
  ['Synthesize these viewpoints into one', { available: ['cot', 'react', 'tot'] }, 'tot', 'synthesis'],
  ['Hello there', { available: ['tot'] }, 'tot', 'general'],
  ['x', { available: [] }, 'react', 'general'],
  ['anything', { strategy: 'aot' }, 'aot', 'manual_override', 0.5],
])('%o with %o is for %s', (question, options, strategy, taskType, score) => {
  const chosen = choose(question, options);
  expect(chosen).toMatchObject({ strategy, task_type: taskType });
  if (score !== undefined) expect(chosen.score).toBeCloseTo(score, 3);
});

test('the thresholds belong to neither side', () => {
  const { score } = choose('plain words');
  expect(choose('plain words', { simple_threshold: score }).strategy).toBe('react');
  expect(choose('plain words', { simple_threshold: 0, complex_threshold: score }).strategy).toBe('react');
});
