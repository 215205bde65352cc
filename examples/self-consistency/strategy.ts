import { defineStrategy, quote, type StrategyAnswer } from 'lanefold/strategy';
import { z } from 'zod';

const options = {
  /** How many independent answers are asked for. */
  samples: z.int().min(1).max(40).default(5),
};

interface Vote {
  answer: string;
  votes: number;
}

/** Self-consistency: the same question several times, and the answer that most of them reach. */
export const selfConsistency = defineStrategy<string, typeof options>({
  name: 'self-consistency',
  options,
  begin: (question, { samples }) => ({
    memory: question,
    questions: Array.from({ length: samples }, () => ({
      purpose: 'sample',
      system: 'Think step by step. End with a line "Answer: " and the shortest form of the answer.',
      prompt: quote('question', question),
      // without variety there is nothing to vote on
      settings: { temperature: 0.8 },
    })),
  }),
  learn(memory, answers) {
    const [first, ...others] = tally(answers);
    const result = { answer: first?.answer ?? null, votes: first?.votes ?? 0, of: answers.length, others };
    const reason = first ? 'majority' : 'no_answer';
    return { memory, end: { reason, answer: result.answer, result: JSON.parse(JSON.stringify(result)) } };
  },
  best: (_, { reason }) => ({ reason, answer: null, result: null }),
});

/** The answers by the number of their votes; of equals the one given first. */
function tally(answers: readonly StrategyAnswer[]): Vote[] {
  const votes = new Map<string, number>();
  for (const { text } of answers) {
    const line = text.split('\n').findLast((candidate) => candidate.startsWith('Answer:'));
    const answer = line?.slice('Answer:'.length).trim().toLowerCase();
    if (answer) votes.set(answer, (votes.get(answer) ?? 0) + 1);
  }
  return [...votes].map(([answer, count]) => ({ answer, votes: count })).sort((a, b) => b.votes - a.votes);
}
