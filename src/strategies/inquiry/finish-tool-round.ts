import type { JsonObject } from '../../context/message.ts';
import { limitReached } from '../limits.ts';
import type { Decision, RunFacts, StepDraft } from '../machine.ts';
import { toolCompleted } from '../turn/events.ts';
import type { ToolsFinished } from '../turn/tool-round.ts';
import { awaitCalls } from './ask.ts';
import { laneOf } from './conversation.ts';
import { callStarted } from './events.ts';
import { endEarly } from './finish.ts';
import { momentOf, spentAt } from './fold.ts';
import type { Inquiry } from './inquiry.ts';
import { askOf, type InquiryState, type Progress } from './state.ts';

/** Commits the results of a round, then asks the question again with them. */
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
