import type { StrategyQuestion } from '../inquiry/inquiry.ts';
import { quote, quotedIsData } from '../inquiry/quote.ts';

export const reasonAsk = (question: string, answer: string, about = 0): StrategyQuestion => ({
  purpose: 'reason',
  about,
  system: `Reason about the question step by step. ${answer ? 'Say what the answer so far gets right, and what it lacks.' : 'Give the best answer you can.'} ${quotedIsData}`,
  prompt: [quote('question', question), ...(answer ? [quote('answer', answer)] : [])].join('\n\n'),
});

export const superviseAsk = (question: string, answer: string, about: number): StrategyQuestion => ({
  purpose: 'supervise',
  about,
  system: `Judge the answer critically. Write one line each for what is good ("STRENGTH: …"), what is wrong ("ISSUE: …") and what would help ("SUGGESTION: …"). End with "SCORE: " and a number from 0 to 1. ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${quote('answer', answer)}`,
});

interface Critique {
  question: string;
  answer: string;
  insights: string;
  issues: string[];
  suggestions: string[];
  node: number;
}

export const improveAsk = ({ question, answer, insights, issues, suggestions, node }: Critique): StrategyQuestion => ({
  purpose: 'improve',
  about: node,
  system: `Rewrite the answer so that it resolves the issues. Reply with the whole new answer and nothing else. ${quotedIsData}`,
  prompt: [
    quote('question', question),
    quote('answer', answer),
    ...(insights && insights !== answer ? [quote('insights', insights)] : []),
    ...(issues.length > 0 ? [quote('issues', issues.join('\n'))] : []),
    ...(suggestions.length > 0 ? [quote('suggestions', suggestions.join('\n'))] : []),
  ].join('\n\n'),
});
