import type { JsonObject, ToolCall } from '../../context/message.ts';
import type { Command, StrategyDecision, RunFacts, SpentSoFar, StepDraft } from '../machine.ts';
import type { AnsweredRound, StoredAnswer } from '../node.ts';
import { toolStarted } from '../turn/events.ts';
import { awaitCalls } from './ask.ts';
import { laneOf, openingEntries } from './conversation.ts';
import { callCompleted } from './events.ts';
import { endEarly } from './finish.ts';
import type { StrategyDefinition } from './inquiry.ts';
import { answerNode, inquiryEntry, storedAnswer, type Answered } from './answer.ts';
import type { CommonOptions } from './options.ts';
import { askOf, waitingRound, type InquiryState, type OpenCall, type InquiryProgress } from './state.ts';

type Decided<Memory> = StrategyDecision<InquiryState, InquiryProgress<Memory>>;

/** Stores an answer that calls tools. The tool round waits for the other answers of the batch. */
export function onToolCalls<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  event: Answered,
  progress: InquiryProgress<Memory>,
  call: OpenCall,
  calls: ToolCall[],
): Decided<Memory> {
  const ask = askOf(progress, call.node);
  const before = storedAnswer(progress, call, ask.purpose, event);
  const { payload, refs = {} } = inquiryEntry(run, call, event, calls);
  const round: AnsweredRound = {
    assistant: payload as unknown as AnsweredRound['assistant'],
    waiting: { refs, ...(event.tools ? { tools: event.tools } : {}), ...(event.cut ? { cut: event.cut } : {}) },
  };
  const answer: StoredAnswer = { ...before, rounds: [...before.rounds, round] };
  const after = { ...progress, answers: new Map(progress.answers).set(call.node, answer) };
  const step = { nodes: [answerNode(answer, call, ask.about)], events: [callCompleted(run, ask, call, event)] };
  return goOn(strategy, run, { ...state, nodes: true }, after, step, event.spent);
}

/**
 * Waits for missing answers or for the current tool round. Once all answers have arrived, their tool rounds run in the
 * order of the questions: what tools see and change does not depend on which call was faster.
 */
export function goOn<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  step: StepDraft | undefined,
  spent?: SpentSoFar,
): Decided<Memory> {
  if (state.phase === 'tools') {
    return { state, memory: progress, ...(step ? { step } : {}), command: roundCommand(state, progress) };
  }
  const missing = state.open.some(({ node }) => !waitingRound(progress, node));
  return missing
    ? awaitCalls(run, state, progress, step)
    : startInquiryTools(strategy, run, state, progress, state.open[0]!, step ?? {}, spent);
}

/** Runs the tools of the current tool round. */
export function roundCommand(state: InquiryState, progress: InquiryProgress): Extract<Command, { type: 'run_tools' }> {
  const { assistant } = progress.answers.get(state.tool_node!)!.rounds.at(-1)!;
  const { iteration } = state.open.find(({ node }) => node === state.tool_node)!;
  return { type: 'run_tools', round: state.round, calls: assistant.tool_calls, iteration };
}

/** Commits the tool calls of a question to the ledger and its lane, then runs them. */
export function startInquiryTools<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  call: OpenCall,
  step: StepDraft,
  spent: SpentSoFar | undefined,
): Decided<Memory> {
  const ask = askOf(progress, call.node);
  const before = progress.answers.get(call.node)!;
  if (before.rounds.length > (run.options as CommonOptions).max_tool_round_trips) {
    const error = {
      type: 'max_tool_round_trips_reached',
      message: `The model called tools ${before.rounds.length} times for one question (${ask.purpose}).`,
    };
    return endEarly(strategy, state, progress, { reason: 'error', error }, step, spent);
  }
  const { assistant, waiting } = before.rounds.at(-1)!;
  const answer: StoredAnswer = { ...before, rounds: [...before.rounds.slice(0, -1), { assistant }] };
  const opening = before.rounds.length === 1 ? openingEntries(run, ask, call.node) : [];
  const { entries = [] } = step;
  const at = entries.length + opening.length;
  const { tools, cut } = waiting!;
  const next: InquiryState = {
    ...state,
    ...(tools ? { tools } : {}),
    ...(cut ? { cut } : {}),
    phase: 'tools',
    round: state.round + 1,
    tool_node: call.node,
  };
  const after = { ...progress, answers: new Map(progress.answers).set(call.node, answer) };
  const calls = assistant.tool_calls;
  const started = { ...state, iteration: call.iteration };
  return {
    state: next,
    memory: after,
    step: {
      ...step,
      entries: [
        ...entries,
        ...opening,
        {
          role: 'assistant',
          contextRef: laneOf(run, call.node),
          payload: assistant as unknown as JsonObject,
          refs: waiting!.refs,
        },
      ],
      nodes: [...(step.nodes ?? []), answerNode(answer, call, ask.about)],
      events: [...(step.events ?? []), ...calls.map((tool) => ({ ...toolStarted(started, tool), entry: at }))],
      calls: calls.map((tool, index) => ({ index, id: tool.id, name: tool.name })),
      callsAt: at,
    },
    command: roundCommand(next, after),
  };
}
