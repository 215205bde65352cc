import type { StrategyQuestion } from '../inquiry/inquiry.ts';
import { quote, quotedIsData } from '../inquiry/quote.ts';
import type { TotOptions } from './options.ts';
import { pathTo, type Tree } from './tree.ts';

const generateSystem = `You explore a problem as a tree of thoughts. Propose thoughts that differ from each other, each a concrete step or approach in a few sentences. Reply with JSON only: {"thoughts": [{"id": "t1", "content": "…"}]}. ${quotedIsData}`;

const evaluateSystem = `You judge thoughts on the way to solving a problem. Give each a score from 0 (a dead end) to 1 (solves the problem). Reply with JSON only: {"scores": {"t1": 0.5}}. ${quotedIsData}`;

const repairSystem = `Rewrite the text as strict JSON, without adding anything: {"thoughts": [{"id": "t1", "content": "…"}]}. ${quotedIsData}`;

export function generateAsk(tree: Tree, node: number, options: TotOptions): StrategyQuestion {
  const wanted = node === 0 ? 'distinct approaches' : 'distinct next steps';
  return {
    purpose: 'generate',
    about: node,
    tools: true,
    system: generateSystem,
    prompt: `${pathText(tree, node)}\n\nPropose ${options.branching_factor} ${wanted}.`,
  };
}

export const evaluateAsk = (tree: Tree, node: number, thoughts: readonly string[]): StrategyQuestion => ({
  purpose: 'evaluate',
  about: node,
  tools: true,
  system: evaluateSystem,
  prompt: [
    pathText(tree, node),
    ...thoughts.map((thought, i) => `t${i + 1}:\n${quote('thought', thought)}`),
    'Score each thought.',
  ].join('\n\n'),
});

export const repairAsk = (node: number, text: string): StrategyQuestion => ({
  purpose: 'repair',
  about: node,
  system: repairSystem,
  prompt: quote('text', text),
});

function pathText(tree: Tree, node: number): string {
  const [root, ...steps] = pathTo(tree, node);
  return [
    `Problem:\n${quote('problem', root!.content)}`,
    ...steps.map((step, i) => `Step ${i + 1}:\n${quote('step', step.content)}`),
  ].join('\n\n');
}
