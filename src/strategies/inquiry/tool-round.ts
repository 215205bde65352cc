import type { JsonObject, ToolCall } from '../../context/message.ts';
import type { Decision, RunFacts, StepDraft } from '../machine.ts';
import type { AnsweredRound, StoredAnswer } from '../node.ts';
import { toolCompleted, toolStarted } from '../turn/events.ts';
import type { ToolsFinished } from '../turn/tool-round.ts';
import { awaitCalls } from './ask.ts';
import { laneOf, openingEntries } from './conversation.ts';
import { callCompleted, callStarted } from './events.ts';
import { endEarly } from './finish.ts';
import { momentOf, spentAt } from './fold.ts';
import type { Inquiry } from './inquiry.ts';
import { limitReached } from '../limits.ts';
import { answerNode, assistantEntry, storedAnswer, type Answered } from './answer.ts';
import type { CommonOptions } from './options.ts';
import { askOf, type InquiryState, type OpenCall, type Progress } from './state.ts';

type Decided<Memory> = Decision<InquiryState, Progress<Memory>>;

/** Commits the tool calls of a question to the ledger and to the lane of the question, then runs them. */
export function startToolRound<Memory>(
  strategy: Inquiry<Memory>,
  run: RunFacts,
  state: InquiryState,
  event: Answered,
  progress: Progress<Memory>,
  call: OpenCall,
  calls: ToolCall[],
): Decided<Memory> {
  const ask = askOf(progress, call.node);
  const before = storedAnswer(progress, call, ask.purpose, event);
  const completed = callCompleted(run, ask, call, event);
  if (before.rounds.length >= (run.options as CommonOptions).max_tool_round_trips) {
    const error = {
      type: 'max_tool_round_trips_reached',
      message: `The model called tools ${before.rounds.length + 1} times for one question (${ask.purpose}).`,
    };
    return endEarly(strategy, state, progress, { reason: 'error', error }, { events: [completed] }, event.spent);
  }
  const opening = before.rounds.length === 0 ? openingEntries(run, ask, call.node) : [];
  const entry = assistantEntry(run, call, event, calls);
  const answer: StoredAnswer = {
    ...before,
    rounds: [...before.rounds, { assistant: entry.payload as unknown as AnsweredRound['assistant'] }],
  };
  const next: InquiryState = {
    ...state,
    nodes: true,
    ...(event.tools ? { tools: event.tools } : {}),
    phase: 'tools',
    round: state.round + 1,
    tool_node: call.node,
  };
  return {
    state: next,
    memory: { ...progress, answers: new Map(progress.answers).set(call.node, answer) },
    step: {
      entries: [...opening, entry],
      nodes: [answerNode(answer, call, ask.about)],
      events: [completed, ...calls.map((tool) => ({ ...toolStarted(state, tool), entry: opening.length }))],
      calls: calls.map((tool, index) => ({ index, id: tool.id, name: tool.name })),
      callsAt: opening.length,
    },
    command: { type: 'run_tools', round: next.round, calls },
  };
}

/** Commits the results of a round, then asks the question again with them. */
export function finishToolRound<Memory>(
  strategy: Inquiry<Memory>,
  run: RunFacts,
  state: InquiryState,
  { calls, outcomes, spent }: ToolsFinished,
  progress: Progress<Memory>,
): Decided<Memory> {
  const node = state.tool_node!;
  const before = progress.answers.get(node)!;
  const results = calls.map((call, i) => ({
    content: outcomes[i]!.content,
    tool_call_id: call.id,
    name: call.name,
  }));
  const rounds = [...before.rounds.slice(0, -1), { ...before.rounds.at(-1)!, results }];
  const after = { ...progress, answers: new Map(progress.answers).set(node, { ...before, rounds }) };
  const call = state.open.find((open) => open.node === node)!;
  const again = { node, call_no: state.call_no + 1, iteration: state.iteration + 1, retries: 0 };
  const effects = outcomes.flatMap((o, i) => o.effects?.map((effect) => ({ ...effect, call_index: i })) ?? []);
  const step: StepDraft = {
    entries: results.map((payload, i) => ({
      role: 'tool',
      contextRef: laneOf(run, node),
      payload,
      refs: {
        iteration: call.iteration,
        ...(outcomes[i]!.cleaned ? { cleaned: true } : {}),
        ...outcomes[i]!.refs,
      },
    })),
    nodes: [{ node, status: 'tools', data: { rounds } as unknown as JsonObject }],
    events: calls.map((tool, i) => toolCompleted({ ...state, iteration: call.iteration }, tool, outcomes[i]!, i)),
    outcomes: outcomes.map((o) => ({ status: o.status, attempts: o.attempts, duration_ms: o.durationMs })),
    ...(effects.length > 0 ? { effects } : {}),
  };
  const reason = limitReached(run, again.iteration, spentAt(momentOf(after)));
  if (reason) return endEarly(strategy, state, after, { reason }, step, spent);
  const { tools: _, tool_node: __, ...rest } = state;
  const next: InquiryState = {
    ...rest,
    phase: 'llm',
    call_no: again.call_no,
    iteration: again.iteration,
    open: state.open.map((open) => (open === call ? again : open)),
  };
  const started = callStarted(run, askOf(after, node), again);
  return awaitCalls(run, next, after, { ...step, events: [...step.events!, started] });
}
