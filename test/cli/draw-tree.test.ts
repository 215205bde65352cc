import type { RunNode } from '../../src/database/store/nodes/types.ts';
import { expect, test } from 'vitest';
import { drawTree } from '../../src/ops/cli/show-run.ts';
import { readableAnswer } from '../../src/ops/cli/show-run.ts';

const node = (more: Partial<RunNode>): RunNode => ({
  node: 1,
  parent: 0,
  depth: null,
  kind: 'thought',
  status: 'open',
  score: null,
  content: null,
  callId: null,
  usage: null,
  elapsedMs: null,
  data: null,
  ...more,
});

test('draws thoughts under what they follow from, without the calls that led to them', () => {
  const drawn = drawTree([
    node({ node: 1, kind: 'generate', callId: 'r.1', content: '{"thoughts": []}' }),
    node({ node: 3, score: 0.8, content: 'go\nleft\u001b[31m' }),
    node({ node: 4, score: 0.4, content: 'go right' }),
    node({ node: 7, parent: 3, score: 0.9, status: 'best', content: 'and up' }),
  ]);
  expect(drawn).toBe(
    ['question', '  3 (0.80) go left\ufffd[31m', '    7 (0.90 best) and up', '  4 (0.40) go right'].join('\n'),
  );
});

test('draws the answers of a strategy without thoughts', () => {
  const drawn = drawTree([
    node({ node: 1, kind: 'reason', callId: 'r.1', score: 0.5, content: 'A0' }),
    node({ node: 2, parent: 1, kind: 'supervise', callId: 'r.2', content: 'SCORE: 0.5' }),
  ]);
  expect(drawn).toBe('question\n  1 reason (0.50) A0\n    2 supervise SCORE: 0.5');
});

test.each([
  ['text', 'text'],
  [{ answer: '4', raw_response: 'x' }, '4'],
  [{ best: { content: 'left' } }, 'left'],
  [{ answer: null }, '{"answer":null}'],
  [null, undefined],
])('%j is read as %s', (result, text) => {
  expect(readableAnswer(result)).toBe(text);
});
