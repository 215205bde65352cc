import { simulate, type SimulatedCall, type SimulatedRun, type Simulation } from 'lanefold/testing';
import type { TotResult } from '../../src/agent/strategies/tot/result.ts';
import { tot } from '../../src/agent/strategies/tot/tot.ts';

/** The thoughts under each thought, with their scores; the question is `R`. */
export type TreeScript = Record<string, Record<string, number>>;

/** Answers as the script says, whichever thought is generated under or evaluated. */
export const scripted =
  (tree: TreeScript) =>
  (call: SimulatedCall): string => {
    const steps = [...call.prompt.matchAll(/<step>\n(.*)\n<\/step>/g)].map((match) => match[1]!);
    const children = tree[steps.at(-1) ?? 'R']!;
    const names = Object.keys(children);
    if (!call.prompt.includes('Score each thought')) {
      return JSON.stringify({ thoughts: names.map((content, i) => ({ id: `x${i}`, content })) });
    }
    return JSON.stringify({ scores: Object.fromEntries(names.map((name, i) => [`t${i + 1}`, children[name]!])) });
  };

export interface TotRun extends SimulatedRun {
  result: TotResult;
  /** The thoughts that were expanded, in order. */
  expanded: string[];
}

export function search(tree: TreeScript, options: object = {}, more: Partial<Simulation> = {}): TotRun {
  const run = simulate(tot, { question: 'Q', options, answer: scripted(tree), ...more });
  const expanded = [...run.store.nodes.values()]
    .filter((node) => node.kind === 'generate')
    .map((node) => (node.parent === 0 ? 'R' : run.store.nodes.get(node.parent!)!.content!));
  return { ...run, expanded, result: run.finish?.result as unknown as TotResult };
}
