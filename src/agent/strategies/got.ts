import type { StrategyAnswer, StrategyEnding, StrategyTurn, StrategyQuestion } from './inquiry/inquiry.ts';
import { defineStrategy } from './inquiry/machine.ts';
import { z } from 'zod';
import { quote, quotedIsData } from './inquiry/conversation.ts';

export const gotOptions = {
  /** Generations of thoughts, each built on the previous one. */
  generations: z.int().min(1).max(100).default(2),
  /**
   * Thoughts per generation, asked for concurrently. With 2 or more, connections between thoughts are found and used.
   */
  branches: z.int().min(1).max(64).default(1),
  /**
   * How the last generation becomes the answer: `synthesis` combines its thoughts, `weighted` has them scored first and
   * combines them by weight, `voting` has them voted on and takes the winner unchanged.
   */
  aggregation: z.enum(['synthesis', 'voting', 'weighted']).default('synthesis'),
  /** Number of votes if the aggregation is `voting`. */
  votes: z.int().min(1).max(64).default(3),
  /**
   * Maximum thoughts in the graph, the question included, and its maximum depth. At either limit the search ends with
   * the latest thought.
   */
  max_nodes: z.int().min(2).max(100_000).default(20),
  max_depth: z.int().min(1).max(1_000).default(5),
};

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

/** Combines the thoughts, highest weight first. Leaves out thoughts of weight 0, unless all have weight 0. */
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

type GotOptions = z.output<z.ZodObject<typeof gotOptions>>;

interface Idea {
  node: number;
  parent: number;
  text: string;
}

const generateAsk = (
  question: string,
  { parent, related, index, of }: { parent: Idea | undefined; related: string[]; index: number; of: number },
): StrategyQuestion => ({
  purpose: 'generate',
  about: parent?.node ?? 0,
  system: `Develop one thought towards answering the question.${of > 1 ? ` Take perspective ${index + 1} of ${of}, different from the others.` : ''} ${quotedIsData}`,
  prompt: [
    quote('question', question),
    ...(parent ? [`Build on:\n${quote('thought', parent.text)}`] : []),
    ...related.map((text) => `Connected to it:\n${quote('thought', text)}`),
  ].join('\n\n'),
});

const connectAsk = (question: string, ideas: readonly Idea[]): StrategyQuestion => ({
  purpose: 'connect',
  system: `Find connections between the thoughts. Write one line for each: "CONNECTION: [id] -> [id] : description". ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${listed(ideas)}`,
});

const voteAsk = (question: string, ideas: readonly Idea[], index: number): StrategyQuestion => ({
  purpose: 'vote',
  system: `You are judge ${index + 1}. Choose the thought that answers the question best. Reply "VOTE: [id]". ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${listed(ideas)}`,
});

const weighAsk = (question: string, ideas: readonly Idea[]): StrategyQuestion => ({
  purpose: 'weigh',
  system: `Rate from 0 to 1 how much each thought contributes to the answer. Write one line for each: "WEIGHT: [id]: 0.5". ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${listed(ideas)}`,
});

const aggregateAsk = (
  question: string,
  ideas: readonly Idea[],
  connections: readonly Connection[],
  weights?: ReadonlyMap<number, number>,
): StrategyQuestion => ({
  purpose: 'aggregate',
  system: `Combine the thoughts into one answer to the question.${weights ? ' Rely on each thought in proportion to its weight.' : ''} ${quotedIsData}`,
  prompt: [
    quote('question', question),
    listed(ideas, weights),
    ...(connections.length > 0
      ? [`Connections:\n${quote('connections', connections.map(connectionText).join('\n'))}`]
      : []),
  ].join('\n\n'),
});

const connectionText = ({ from, to, description }: Connection): string => `[${from}] -> [${to}] : ${description}`;

const listed = (ideas: readonly Idea[], weights?: ReadonlyMap<number, number>): string =>
  ideas
    .map(({ node, text }) => `[${node}]${weights ? ` weight ${weights.get(node)}` : ''}\n${quote('thought', text)}`)
    .join('\n\n');

/** An edge that the model found between two thoughts. */
interface Connection {
  from: number;
  to: number;
  description: string;
}

const connection = /^CONNECTION[:：]\s*\[(\d{1,9})\]\s*->\s*\[(\d{1,9})\]\s*[:：](.*)$/iu;

/** Parses lines such as `CONNECTION: [1] -> [2] : both need water`; skips those that name unknown thoughts. */
export const parseConnections = (text: string, known: ReadonlySet<number>): Connection[] =>
  text.split('\n').flatMap((line) => {
    const found = connection.exec(line.trim());
    if (!found) return [];
    const [from, to] = [Number(found[1]), Number(found[2])];
    return known.has(from) && known.has(to) ? [{ from, to, description: found[3]!.trim() }] : [];
  });

const vote = /(?<![\p{L}\p{N}_])VOTE[:：\s]{1,5}\[?(\d{1,9})/iu;

/** The thought that a vote such as `VOTE: [2]` names; undefined if it names no known thought. */
export function parseVote(text: string, known: ReadonlySet<number>): number | undefined {
  const found = vote.exec(text);
  return found && known.has(Number(found[1])) ? Number(found[1]) : undefined;
}

const weight = /^WEIGHT[:：\s]{0,5}\[(\d{1,9})\]\s*[:：]\s*(\d+(?:\.\d+)?)/iu;

/** Parses lines such as `WEIGHT: [2]: 0.8`, between 0 and 1; a thought without one weighs 0.5. */
export function parseWeights(text: string, nodes: readonly number[]): Map<number, number> {
  const weights = new Map(nodes.map((node) => [node, 0.5]));
  for (const line of text.split('\n')) {
    const found = weight.exec(line.trim());
    if (found && weights.has(Number(found[1]))) weights.set(Number(found[1]), Math.min(Number(found[2]), 1));
  }
  return weights;
}
