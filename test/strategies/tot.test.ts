import { describe, expect, test } from 'vitest';
import { crashEverywhere, type SimulatedCall, type Simulation } from 'lanefold/testing';
import type { TotResult } from '../../src/agent/strategies/tot/result.ts';
import { tot } from '../../src/agent/strategies/tot/tot.ts';
import { scripted, search, type TreeScript } from './tot-script.ts';

const base: TreeScript = {
  R: { A: 0.9, B: 0.5, C: 0.4 },
  A: { A1: 0.92, A2: 0.8, A3: 0.7 },
  A1: { A11: 0.95, A12: 0.5, A13: 0.1 },
};
const early: TreeScript = { R: { A: 1, B: 0.5 }, A: { A1: 0.3, A2: 0.2 } };
const deep: TreeScript = { R: { A: 0.2, B: 0.5, C: 0.4 }, A: { A1: 0.6, A2: 0.1 }, A1: { A11: 0.7 } };
const wide: TreeScript = {
  R: { A: 0.2, B: 0.5, C: 0.4 },
  A: { A1: 0.6, A2: 0.1 },
  B: { B1: 0.8, B2: 0.2 },
  C: { C1: 0.9 },
  A1: { A11: 0.95 },
  A2: { A21: 0.3 },
  B1: { B11: 0.4 },
};

describe('Tree of Thoughts', () => {
  test('best first follows the best leaf down to the maximum depth', () => {
    const { result, calls, expanded } = search(base);
    expect(result.termination).toMatchObject({
      reason: 'max_depth',
      status: 'completed',
      node_count: 10,
      depth_reached: 3,
    });
    expect(result.best).toMatchObject({ content: 'A11', score: 0.95, depth: 3, path_text: ['Q', 'A', 'A1', 'A11'] });
    expect(result.candidates.map(({ content }) => content)).toEqual(['A11', 'A2', 'A3']);
    expect(result.tree).toMatchObject({ frontier_size: 4, traversal_strategy: 'best_first' });
    expect(result.diagnostics.convergence.recent_best_scores).toEqual([0.92, 0.95]);
    expect(result.diagnostics).toMatchObject({ parser_mode: 'json', parser_errors: [] });
    expect([calls.length, expanded]).toEqual([6, ['R', 'A', 'A1']]);
  });

  test('converges where the best score hardly rises', () => {
    const { result, calls } = search({ ...base, A: { A1: 0.91, A2: 0.8, A3: 0.7 } });
    expect([result.termination.reason, result.best?.content, calls.length]).toEqual(['converged', 'A1', 4]);
  });

  test('ends at the threshold, whose ranking takes the older of two equals', () => {
    const { result, calls } = search({ ...base, A: { A1: 1, A2: 1, A3: 0.7 } });
    expect([result.termination.reason, result.best?.content, calls.length]).toEqual(['threshold', 'A1', 4]);
  });

  test('a score at the threshold above the minimum depth is ignored; a falling best score converges', () => {
    const { result, expanded } = search(early);
    expect([result.termination.reason, result.best?.content, expanded]).toEqual(['converged', 'B', ['R', 'A']]);
    expect(result.diagnostics.convergence.recent_best_scores).toEqual([1, 0.5]);
  });

  test('with a minimum depth of 1 it counts', () => {
    const { result, calls } = search(early, { minDepth: 1 });
    expect([result.termination.reason, result.best?.content, calls.length]).toEqual(['threshold', 'A', 2]);
  });

  test('the number of nodes is checked before the threshold', () => {
    const { result, calls } = search({ R: { A: 1, B: 1, C: 1 } }, { maxNodes: 4, minDepth: 1 });
    expect([result.termination.reason, calls.length]).toEqual(['max_nodes', 2]);
  });

  test('a maximum depth of 1 expands the question only', () => {
    const { result, calls } = search(base, { maxDepth: 1 });
    expect([result.termination.reason, calls.length]).toEqual(['max_depth', 2]);
  });

  test('depth first takes the first child, whatever its score', () => {
    const { result, expanded } = search(deep, { traversal: 'dfs' });
    expect(expanded).toEqual(['R', 'A', 'A1']);
    expect([result.termination.reason, result.best?.content, result.tree.frontier_size]).toEqual([
      'max_depth',
      'A11',
      3,
    ]);
  });

  test('breadth first expands a level before the next', () => {
    const { result, expanded, calls } = search(wide, { traversal: 'bfs' });
    expect(expanded).toEqual(['R', 'A', 'B', 'C', 'A1']);
    expect([result.best?.content, result.best?.score, calls.length]).toEqual(['A11', 0.95, 10]);
    expect(result.candidates.map(({ content }) => content)).toEqual(['A11', 'C1', 'B1']);
  });

  test('on the threshold the best is the highest ranked leaf, not the first above it', () => {
    const { result } = search({ R: { A: 0.85, B: 0.95 } }, { minDepth: 1, earlySuccessThreshold: 0.8 });
    expect([result.termination.reason, result.best?.content]).toEqual(['threshold', 'B']);
  });

  test('the beam keeps the best open thoughts', () => {
    expect(search(base, { beamWidth: 2 }).result.tree.frontier_size).toBe(1);
  });

  test('several branches are expanded at the same time, with the same result in whatever order answers come', () => {
    const options = { branches: 3, traversal: 'bfs' };
    const inOrder = search(wide, options);
    expect(inOrder.expanded).toEqual(['R', 'A', 'B', 'C', 'A1', 'A2', 'B1']);
    // three generations, then three evaluations
    expect(inOrder.calls.slice(2).map(({ prompt }) => prompt.includes('Score each'))).toEqual(
      inOrder.calls.slice(2).map((_, i) => i % 6 >= 3),
    );
    for (const nextOf of [
      (calls: readonly object[]) => calls.length - 1,
      (calls: readonly object[]) => calls.length >> 1,
    ]) {
      const other = search(wide, options, { nextOf });
      expect(other.result).toEqual(inOrder.result);
    }
  });

  test('thoughts are nodes with their scores, and the state stays small', () => {
    const { store, result, stateBytes } = search(base);
    const thoughts = [...store.nodes.values()].filter((node) => !node.kind);
    expect(thoughts).toHaveLength(9);
    expect(store.nodes.get(result.best!.node_id)).toMatchObject({
      content: 'A11',
      score: 0.95,
      depth: 3,
      status: 'best',
    });
    expect(thoughts.find((node) => node.content === 'A')).toMatchObject({ parent: 0, depth: 1, status: 'expanded' });
    expect(stateBytes).toBeLessThan(400);
  });

  test('a generation that cannot be read is repaired once, without tools', () => {
    const script = scripted(base);
    const { result, store } = search(
      base,
      {},
      {
        answer: (call) =>
          call.callId === 'run_1.1'
            ? 'Hm, A or B.'
            : call.prompt.includes('<text>')
              ? '1. A\n2. B\n3. C'
              : script(call),
      },
    );
    expect(result.diagnostics).toMatchObject({
      parse_retries: { generation: 1 },
      parser_errors: ['generation_parse_retry'],
    });
    expect(result.best?.content).toBe('A11');
    expect(store.nodes.get(2)).toMatchObject({ kind: 'repair', content: '1. A\n2. B\n3. C' });
  });

  test('the parser mode is that of the last generation, however the scores were written', () => {
    const inLines = (call: SimulatedCall) =>
      call.prompt.includes('Score each') ? '1. 1\n2. 0.5' : scripted(early)(call);
    expect(search(early, {}, { answer: inLines }).result.diagnostics.parser_mode).toBe('json');
    const inAList = (call: SimulatedCall) =>
      call.prompt.includes('Score each') ? '{"scores": {"t1": 1}}' : '1. A\n2. B';
    expect(search(early, {}, { answer: inAList }).result.diagnostics.parser_mode).toBe('regex');
  });

  test('generations that stay unreadable fail the run, with the best so far', () => {
    const { finish, result, calls } = search(base, {}, { answer: () => 'Hm.' });
    expect(calls).toHaveLength(2);
    expect(finish).toMatchObject({ status: 'failed', reason: 'error', error: { type: 'parse_failed' } });
    expect(result).toMatchObject({ best: null, candidates: [], diagnostics: { best_node_id: null } });
    expect(result.diagnostics.parser_errors).toEqual(['generation_parse_retry', 'thoughts_parse_failed']);
  });

  test('a failed call fails the run, with the best leaf so far', () => {
    const script = scripted(base);
    const { finish, result } = search(
      base,
      {},
      {
        answer: (call) => (call.callId === 'run_1.4' ? new Error('broken') : script(call)),
      },
    );
    expect(finish).toMatchObject({ status: 'failed', error: { type: 'llm_request', message: 'broken' } });
    expect(result.best).toMatchObject({ content: 'A', score: 0.9 });
    expect(result.termination).toMatchObject({ reason: 'error', status: 'error' });
  });

  test.each([
    ['model calls', { maxIterations: 3 }, {}, 'max_iterations'],
    ['tokens', { maxTotalTokens: 30 }, {}, 'max_total_tokens'],
    ['time', { maxDurationMs: 1_000 }, { elapsedMs: () => 1_000 }, 'max_duration'],
  ])('a limit of %s ends the run with the best leaf so far', (_, facts, more, reason) => {
    const { finish, result } = search(base, {}, { facts, ...more });
    expect(finish).toMatchObject({ status: 'completed', reason });
    expect(result.termination.reason).toBe(reason);
  });

  test('ends the same wherever the worker crashes, with tool rounds and parallel branches', () => {
    const script = scripted(wide);
    const answer = (call: SimulatedCall) => {
      const asked = call.messages.some(({ role }) => role === 'tool');
      // the questions about B need two tools
      if (!call.prompt.includes('<step>\nB\n</step>') || asked) return script(call);
      return { toolCalls: ['x', 'y'].map((id) => ({ id, name: 'look', arguments: {} })) };
    };
    const simulation = { question: 'Q', options: { traversal: 'bfs', branches: 3 }, answer: withPrompt(answer) };
    const { store, finish } = crashEverywhere(tot, simulation);
    expect((finish!.result as unknown as TotResult).diagnostics.tool_rounds).not.toEqual({});
    expect(store.entries.filter(({ role }) => role === 'tool').length).toBeGreaterThan(0);
  });
});

/** After a tool round the last message is a result: the question is the one before. */
const withPrompt = (answer: (call: SimulatedCall) => ReturnType<Simulation['answer']>) => (call: SimulatedCall) => {
  const question = call.messages.findLast(({ role }) => role === 'user')!.content as string;
  return answer({ ...call, prompt: question });
};
