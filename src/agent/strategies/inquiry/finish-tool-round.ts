import type { JsonObject } from '../../context/message.ts';
import type { StrategyDecision, RunFacts, StepDraft } from '../machine.ts';
import type { AnsweredRound } from '../node.ts';
import { toolResults, type ToolsFinished } from '../turn/tool-round.ts';
import { askQuestions } from './ask.ts';
import { laneOf } from './conversation.ts';
import type { StrategyDefinition } from './inquiry.ts';
import { startInquiryTools } from './start-tool-round.ts';
import { waitingRound, type InquiryState, type InquiryProgress } from './state.ts';

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
