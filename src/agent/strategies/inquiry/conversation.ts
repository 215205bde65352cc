import type { ContentPart, Message } from '../../context/message.ts';
import type { EntryDraft, PromptedCall, RunFacts } from '../machine.ts';
import type { StoredAnswer } from '../node.ts';
import type { StrategyQuestion } from './inquiry.ts';
import type { CommonOptions } from './options.ts';
import { askOf, callIdOf, type OpenCall, type InquiryProgress } from './state.ts';

/**
 * The model call for a question: system prompt, the lane if `history` is set, the question, and the tool rounds so far.
 */
export function promptedCall(run: RunFacts, progress: InquiryProgress, open: OpenCall): PromptedCall {
  const ask = askOf(progress, open.node);
  const { history } = run.options as CommonOptions;
  return {
    callId: callIdOf(run, open),
    iteration: open.iteration,
    messages: [
      { role: 'system', content: systemOf(run, ask) },
      ...(history ? (run.question?.history ?? []) : []),
      { role: 'user', content: contentOf(run, ask) },
      ...roundMessages(progress.answers.get(open.node)),
    ],
    ...(ask.tools ? {} : { tools: false as const }),
    ...(ask.settings ? { settings: ask.settings } : {}),
  };
}

/** The lane to which the question of a node is written, if it is recorded. */
export const laneOf = (run: RunFacts, node: number): string => `${run.runId.slice(0, 110)}.${node}`;

/** The opening entries of the lane of a question. */
export const openingEntries = (run: RunFacts, ask: StrategyQuestion, node: number): EntryDraft[] => [
  {
    kind: 'ai_config_change',
    role: null,
    contextRef: laneOf(run, node),
    payload: { field: 'system_prompt', value: systemOf(run, ask) },
  },
  {
    role: 'user',
    contextRef: laneOf(run, node),
    payload: { content: contentOf(run, ask) as string },
    refs: { kind: 'question' },
  },
];

const systemOf = ({ question }: RunFacts, { system }: StrategyQuestion): string =>
  [question?.system, system].filter(Boolean).join('\n\n') || 'Answer the question.';

const contentOf = ({ question }: RunFacts, { prompt }: StrategyQuestion): string | ContentPart[] =>
  question?.parts.length ? [...question.parts, { type: 'text', text: prompt }] : prompt;

const roundMessages = (answer: StoredAnswer | undefined): Message[] =>
  (answer?.rounds ?? []).flatMap(({ assistant, results = [] }) => [
    { role: 'assistant' as const, ...assistant } as Message,
    ...results.map((result) => ({ role: 'tool' as const, ...result })),
  ]);
