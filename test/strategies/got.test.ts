import { describe, expect, test } from 'vitest';
import { crashEverywhere, simulate, type SimulatedCall } from 'lanefold/testing';
import { got } from '../../src/agent/strategies/got.ts';

/** A thought is `T1`, with a dash for every generation. */
function answer({ messages, prompt }: SimulatedCall): string {
  const system = messages[0]!.content as string;
  const ids = [...prompt.matchAll(/^\[(\d+)\](?! ->)/gm)].map((match) => match[1]!);
  if (system.includes('Find connections'))
    return `CONNECTION: [${ids[0]}] -> [${ids[1]}] : both\nCONNECTION: [1] -> [99] : none`;
  if (system.includes('judge')) return `VOTE: [${ids.at(system.includes('judge 1') ? 0 : 1)}]`;
  if (system.includes('contributes')) return ids.map((id, i) => `WEIGHT: [${id}]: ${i / 2}`).join('\n');
  if (system.includes('Combine')) return `All of ${ids.join(' and ')}.`;
  const parent = /Build on:\n<thought>\nT\d(-*)/.exec(prompt);
  return `T${/perspective (\d)/.exec(system)?.[1] ?? 1}${parent ? `${parent[1]}-` : ''}`;
}

const run = (options: object = {}) => simulate(got, { question: 'Q', options, answer });

describe('Graph of Thoughts', () => {
  test('is a chain of two thoughts and their synthesis by default: three calls', () => {
    const { finish, calls, store } = run();
    expect(finish).toMatchObject({ status: 'completed', reason: 'success', result: 'All of 2.' });
    expect(calls).toHaveLength(3);
    expect([...store.nodes.values()].map(({ kind, parent }) => [kind, parent])).toEqual([
      ['generate', 0],
      ['generate', 1],
      ['aggregate', 0],
    ]);
  });

  test.each<[object, string, number]>([
    [{ maxDepth: 1 }, 'max_depth', 1],
    [{ maxDepth: 2 }, 'max_depth', 2],
    [{ maxNodes: 2 }, 'max_nodes', 1],
    [{ maxNodes: 3 }, 'max_nodes', 2],
  ])('%o ends with the latest thought', (options, reason, calls) => {
    const { finish, calls: made } = run(options);
    expect(finish).toMatchObject({ reason, result: calls === 1 ? 'T1' : 'T1-' });
    expect(made).toHaveLength(calls);
  });

  test('with branches it finds connections, which the next generation and the synthesis see', () => {
    const { calls, store, finish } = run({ branches: 2 });
    // 2 thoughts, connections, 2 thoughts, connections, synthesis
    expect(calls).toHaveLength(7);
    expect(store.nodes.get(1)!.data).toEqual({ connections: [{ to: 2, description: 'both' }] });
    expect(calls[3]!.prompt).toContain('Connected to it:\n<thought>\nT2\n</thought>');
    expect(calls.at(-1)!.prompt).toContain('[1] -> [2] : both');
    expect(finish!.result).toBe('All of 4 and 5.');
  });

  test('voting returns the winner as it is, weighting a synthesis without what weighs nothing', () => {
    const voted = run({ branches: 2, aggregation: 'voting' });
    expect(voted.finish!.result).toBe('T2-');
    expect(voted.store.nodes.get(5)!.score).toBeCloseTo(2 / 3);
    const weighted = run({ branches: 3, aggregation: 'weighted' });
    expect(weighted.finish!.result).toBe('All of 7 and 6.');
    expect(run({ aggregation: 'voting' }).calls).toHaveLength(2);
  });

  test('ends the same wherever the worker crashes, in whatever order answers come', () => {
    const simulation = { question: 'Q', options: { branches: 3, aggregation: 'voting' }, answer };
    const { finish } = crashEverywhere(got, simulation);
    const last = { ...simulation, nextOf: (calls: readonly object[]) => calls.length - 1 };
    expect(crashEverywhere(got, last).finish).toEqual(finish);
  });
});
