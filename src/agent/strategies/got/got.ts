import type { StrategyAnswer, StrategyEnding, StrategyTurn } from '../inquiry/inquiry.ts';
import { defineStrategy } from '../inquiry/machine.ts';
import { gotOptions, type GotOptions } from './options.ts';
import { parseConnections, parseVote, parseWeights, type Connection } from './parse.ts';
import { aggregateAsk, connectAsk, generateAsk, voteAsk, weighAsk, type Idea } from './prompts.ts';

interface GotMemory {
  question: string;
  options: GotOptions;
  ideas: readonly Idea[];
  /** The thoughts of the last generation. */
  latest: readonly Idea[];
  generation: number;
  connections: readonly Connection[];
}

/** Maximum number of thoughts to aggregate. */
const maxAggregated = 5;

/**
 * Graph of Thoughts: generations of thoughts, each built on the previous one; connections between thoughts; and one
 * answer made from the last generation. With the defaults it is a chain of two thoughts and their synthesis: three
 * calls.
 */
export const got = defineStrategy<GotMemory, typeof gotOptions>({
  name: 'got',
  options: gotOptions,
  begin(question, options) {
    const memory = { question, options, ideas: [], latest: [], generation: 0, connections: [] };
    return { memory, questions: generation(memory) };
  },
  learn(memory, answers) {
    switch (answers[0]!.question.purpose) {
      case 'generate':
        return onGenerated(memory, answers);
      case 'connect':
        return onConnected(memory, answers[0]!.text);
      case 'vote':
        return onVoted(memory, answers);
      case 'weigh':
        return onWeighed(memory, answers[0]!.text);
      default:
        return { memory, end: toEnding('success', answers[0]!.text.trim()) };
    }
  },
  best: ({ latest }, { reason }) => toEnding(reason, latest.at(-1)?.text ?? null),
});

/** The questions of the next generation. Each thought sees its predecessor and the thoughts connected with it. */
function generation({ question, options, ideas, latest, connections }: GotMemory) {
  return Array.from({ length: options.branches }, (_, index) => {
    const parent = latest[index % Math.max(latest.length, 1)];
    const linked = connections.flatMap(({ from, to }) =>
      from === parent?.node ? to : to === parent?.node ? from : [],
    );
    const related = ideas.filter(({ node }) => linked.includes(node)).map(({ text }) => text);
    return generateAsk(question, { parent, related, index, of: options.branches });
  });
}

function onGenerated(before: GotMemory, answers: StrategyAnswer[]): StrategyTurn<GotMemory> {
  const { options } = before;
  const latest = answers.map(({ node, question, text }): Idea => ({
    node,
    parent: question.about ?? 0,
    text: text.trim(),
  }));
  const memory: GotMemory = {
    ...before,
    ideas: [...before.ideas, ...latest],
    latest,
    generation: before.generation + 1,
  };
  const last = latest.at(-1)!.text;
  if (memory.ideas.length + 1 >= options.max_nodes) return { memory, end: toEnding('max_nodes', last) };
  if (memory.generation >= options.max_depth) return { memory, end: toEnding('max_depth', last) };
  if (options.branches > 1) return { memory, questions: [connectAsk(memory.question, memory.ideas)] };
  return continueOrAggregate(memory);
}

function onConnected(before: GotMemory, text: string): StrategyTurn<GotMemory> {
  const found = parseConnections(text, new Set(before.ideas.map(({ node }) => node)));
  const memory = { ...before, connections: found };
  const nodes = [...new Set(found.map(({ from }) => from))].map((node) => ({
    node,
    status: 'answered',
    data: {
      connections: found.filter(({ from }) => from === node).map(({ to, description }) => ({ to, description })),
    },
  }));
  return { ...continueOrAggregate(memory), nodes };
}

function continueOrAggregate(memory: GotMemory): StrategyTurn<GotMemory> {
  const { question, options, connections } = memory;
  if (memory.generation < options.generations) return { memory, questions: generation(memory) };
  const ideas = aggregated(memory);
  if (options.aggregation === 'synthesis') return { memory, questions: [aggregateAsk(question, ideas, connections)] };
  // there is nothing to choose from
  if (ideas.length === 1 && options.aggregation === 'voting')
    return { memory, end: toEnding('success', ideas[0]!.text) };
  if (options.aggregation === 'weighted') return { memory, questions: [weighAsk(question, ideas)] };
  return { memory, questions: Array.from({ length: options.votes }, (_, i) => voteAsk(question, ideas, i)) };
}

/** Picks the thought with the most votes; among equals, the oldest. */
function onVoted(memory: GotMemory, answers: StrategyAnswer[]): StrategyTurn<GotMemory> {
  const ideas = aggregated(memory);
  const known = new Set(ideas.map(({ node }) => node));
  const votes = answers.map(({ text }) => parseVote(text, known));
  const counted = ideas.map((idea) => ({ idea, votes: votes.filter((vote) => vote === idea.node).length }));
  const winner = counted.reduce((best, one) => (one.votes > best.votes ? one : best));
  const nodes = counted.map(({ idea, votes: count }) => ({
    node: idea.node,
    status: 'answered',
    score: count / answers.length,
  }));
  return { memory, nodes, end: toEnding('success', winner.idea.text) };
}

/** Combines the thoughts, highest weight first. Leaves out those of weight 0, unless all have weight 0. */
function onWeighed(memory: GotMemory, text: string): StrategyTurn<GotMemory> {
  const ideas = aggregated(memory);
  const weights = parseWeights(
    text,
    ideas.map(({ node }) => node),
  );
  const weighty = ideas.filter(({ node }) => weights.get(node)! > 0);
  const sorted = (weighty.length > 0 ? weighty : ideas).toSorted((a, b) => weights.get(b.node)! - weights.get(a.node)!);
  const nodes = ideas.map(({ node }) => ({ node, status: 'answered', score: weights.get(node)! }));
  return { memory, nodes, questions: [aggregateAsk(memory.question, sorted, memory.connections, weights)] };
}

const aggregated = ({ latest }: GotMemory): readonly Idea[] => latest.slice(0, maxAggregated);

const toEnding = (reason: string, answer: string | null): StrategyEnding => ({ reason, answer, result: answer });
