import type { ToolCall } from '../../context/message.ts';
import type { StrategyDecision, EntryDraft, RunFacts, StepDraft } from '../machine.ts';
import type { StoredAnswer } from '../node.ts';
import { answerNode, inquiryEntry, storedAnswer, type Answered } from './answer.ts';
import { askBatch } from './ask.ts';
import { openingEntries } from './conversation.ts';
import { callCompleted } from './events.ts';
import { isComplete, learn } from './fold.ts';
import type { StrategyDefinition } from './inquiry.ts';
import type { CommonOptions } from './options.ts';
import { askOf, callIdOf, type InquiryState, type OpenCall, type InquiryProgress } from './state.ts';
import { goOn, onToolCalls } from './start-tool-round.ts';

/**
 * Stores an answer, or starts the tool round it asks for. After the last answer of a batch, the strategy takes its next
 * turn.
 */
export function onAnswered<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  event: Answered,
  progress: InquiryProgress<Memory>,
  call: OpenCall,
): StrategyDecision<InquiryState, InquiryProgress<Memory>> {
  const ask = askOf(progress, call.node);
  // ignore tool calls of a model that was offered no tools
  const calls = ask.tools ? event.turn.toolCalls : [];
  if (calls.length > 0) return onToolCalls(strategy, run, state, event, progress, call, identified(run, call, calls));
  const stored = storedAnswer(progress, call, ask.purpose, event);
  const answer: StoredAnswer = { ...stored, status: 'answered', content: event.turn.text };
  const next: InquiryState = { ...state, nodes: true, open: state.open.filter((open) => open !== call) };
  const after = { ...progress, answers: new Map(progress.answers).set(call.node, answer) };
  const step: StepDraft = {
    nodes: [answerNode(answer, call, ask.about)],
    events: [callCompleted(run, ask, call, event)],
  };
  const entries = recordedEntries(run, progress, call, event);
  const written = entries.length > 0 ? { ...step, entries } : step;
  if (!isComplete(after)) return goOn(strategy, run, next, after, written, event.spent);
  const decided = askBatch(strategy, run, next, learn(strategy, run, after), written);
  return withFinishReason(decided, event.turn.finishReason);
}

/**
 * Entries for the lane of a question: a question that uses tools is logged from its first round on, any other only with
 * `record_thoughts`.
 */
function recordedEntries(run: RunFacts, progress: InquiryProgress, call: OpenCall, event: Answered): EntryDraft[] {
  const opened = progress.answers.has(call.node);
  if (!opened && !(run.options as CommonOptions).record_thoughts) return [];
  const opening = opened ? [] : openingEntries(run, askOf(progress, call.node), call.node);
  return [...opening, inquiryEntry(run, call, event, [])];
}

/** The run may end with this answer. */
const withFinishReason = <Decided extends { step?: StepDraft }>(decided: Decided, reason: string | null): Decided => {
  const { step } = decided;
  return step?.finish ? { ...decided, step: { ...step, finish: { ...step.finish, finish_reason: reason } } } : decided;
};

const identified = (run: RunFacts, call: OpenCall, calls: ToolCall[]): ToolCall[] =>
  calls.map((tool, i) => (tool.id ? tool : { ...tool, id: `call_${callIdOf(run, call)}.${i}` }));
