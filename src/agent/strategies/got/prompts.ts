import type { StrategyQuestion } from '../inquiry/inquiry.ts';
import { quote, quotedIsData } from '../inquiry/quote.ts';
import type { Connection } from './parse.ts';

export interface Idea {
  node: number;
  parent: number;
  text: string;
}

export const generateAsk = (
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

export const connectAsk = (question: string, ideas: readonly Idea[]): StrategyQuestion => ({
  purpose: 'connect',
  system: `Find connections between the thoughts. Write one line for each: "CONNECTION: [id] -> [id] : description". ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${listed(ideas)}`,
});

export const voteAsk = (question: string, ideas: readonly Idea[], index: number): StrategyQuestion => ({
  purpose: 'vote',
  system: `You are judge ${index + 1}. Choose the thought that answers the question best. Reply "VOTE: [id]". ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${listed(ideas)}`,
});

export const weighAsk = (question: string, ideas: readonly Idea[]): StrategyQuestion => ({
  purpose: 'weigh',
  system: `Rate from 0 to 1 how much each thought contributes to the answer. Write one line for each: "WEIGHT: [id]: 0.5". ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${listed(ideas)}`,
});

export const aggregateAsk = (
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
