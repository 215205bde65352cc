import type { JsonObject } from '../../context/message.ts';
import type { Decision, RunFacts, StepDraft } from '../machine.ts';
import { toolCompleted } from '../turn/events.ts';
import type { ToolsFinished } from '../turn/tool-round.ts';
import { askQuestions } from './ask.ts';
import { laneOf } from './conversation.ts';
import type { Inquiry } from './inquiry.ts';
import { startToolRound } from './start-tool-round.ts';
import { waitingRound, type InquiryState, type Progress } from './state.ts';

/** Commits the results of a round. The next round starts; after the last one, the questions are asked again with the results. */
export function finishToolRound<Memory>(
  strategy: Inquiry<Memory>,
  run: RunFacts,
  state: InquiryState,
  { calls, outcomes, spent }: ToolsFinished,
  progress: Progress<Memory>,
): Decision<InquiryState, Progress<Memory>> {
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
  const { tools: _, tool_node: __, ...rest } = state;
  const next = rest.open.find((open) => waitingRound(after, open.node));
  return next
    ? startToolRound(strategy, run, rest, after, next, step, spent)
    : askQuestions(strategy, run, rest, after, rest.open, step, { spent });
}
