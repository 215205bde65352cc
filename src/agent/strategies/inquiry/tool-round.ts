import type { JsonObject, ToolCall } from '../../context/message.ts';
import type { Command, StrategyDecision, RunFacts, SpentSoFar, StepDraft, EntryDraft } from '../machine.ts';
import type { AnsweredRound, StoredAnswer } from '../records.ts';
import { type Answered, toolStarted } from '../turn/events.ts';
import { awaitCalls, askQuestions, askBatch, endEarly, isComplete, learn } from './ask.ts';
import { laneOf, openingEntries, answerNode, inquiryEntry, storedAnswer } from './conversation.ts';
import {
  callCompleted,
  type StrategyDefinition,
  type CommonOptions,
  askOf,
  waitingRound,
  type InquiryState,
  type OpenCall,
  type InquiryProgress,
  callIdOf,
} from './inquiry.ts';
import { toolResults, type ToolsFinished } from '../turn/finish.ts';

type Decided<Memory> = StrategyDecision<InquiryState, InquiryProgress<Memory>>;

/** Stores an answer that calls tools. The tool round waits for the other answers of the batch. */
function onToolCalls<Memory>(
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
    waiting: { refs, tools: event.tools, cut: event.cut },
  };
  const answer: StoredAnswer = { ...before, rounds: [...before.rounds, round] };
  const after = { ...progress, answers: new Map(progress.answers).set(call.node, answer) };
  const step = { nodes: [answerNode(answer, call, ask.about)], events: [callCompleted(run, ask, call, event)] };
  return proceed(strategy, run, { ...state, nodes: true }, after, step, event.spent);
}

/**
 * Waits for missing answers or for the current tool round. Once all answers have arrived, their tool rounds run in the
 * order of the questions: what tools see and change does not depend on which call was faster.
 */
export function proceed<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  step: StepDraft | undefined,
  spent?: SpentSoFar,
): Decided<Memory> {
  if (state.phase === 'tools') {
    return { state, memory: progress, step, command: roundCommand(state, progress) };
  }
  const missing = state.open.some(({ node }) => !waitingRound(progress, node));
  return missing
    ? awaitCalls(run, state, progress, step)
    : startInquiryTools(strategy, run, state, progress, state.open[0]!, step ?? {}, spent);
}

/** Runs the tools of the current tool round. */
function roundCommand(state: InquiryState, progress: InquiryProgress): Extract<Command, { type: 'run_tools' }> {
  const { assistant } = progress.answers.get(state.tool_node!)!.rounds.at(-1)!;
  const { iteration } = state.open.find(({ node }) => node === state.tool_node)!;
  return { type: 'run_tools', round: state.round, calls: assistant.tool_calls, iteration };
}

/** Commits the tool calls of a question to the ledger and its lane, then runs them. */
function startInquiryTools<Memory>(
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
    tools,
    cut,
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

type ToolResult = NonNullable<AnsweredRound['results']>[number];

/**
 * Commits the results of a round, then starts the next round; after the last one, asks the questions again with the
 * results.
 */
export function finishToolRound<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  finished: ToolsFinished,
  progress: InquiryProgress<Memory>,
): StrategyDecision<InquiryState, InquiryProgress<Memory>> {
  const node = state.tool_node!;
  const before = progress.answers.get(node)!;
  const call = state.open.find((open) => open.node === node)!;
  const { entries, ...ended } = toolResults({ ...state, iteration: call.iteration }, finished);
  const results = entries.map(({ payload }) => payload as unknown as ToolResult);
  const rounds = [...before.rounds.slice(0, -1), { ...before.rounds.at(-1)!, results }];
  const after = { ...progress, answers: new Map(progress.answers).set(node, { ...before, rounds }) };
  const step: StepDraft = {
    ...ended,
    entries: entries.map((entry) => ({ ...entry, contextRef: laneOf(run, node) })),
    nodes: [{ node, status: 'tools', data: { rounds } as unknown as JsonObject }],
  };
  const { tools: _, cut: __, tool_node: ___, ...rest } = state;
  const next = rest.open.find((open) => waitingRound(after, open.node));
  return next
    ? startInquiryTools(strategy, run, rest, after, next, step, finished.spent)
    : askQuestions(strategy, run, rest, after, rest.open, step, { spent: finished.spent });
}

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
  if (!isComplete(after)) return proceed(strategy, run, next, after, written, event.spent);
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
