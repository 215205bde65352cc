import type { Json, ToolCall } from '../../context/message.ts';
import { addUsage } from '../../context/usage.ts';
import type { EntryDraft, StrategyEvent, RunFacts } from '../machine.ts';
import type { StrategyNode, StoredAnswer } from '../node.ts';
import { laneOf } from './conversation.ts';
import type { CommonOptions } from './options.ts';
import { callIdOf, noUsage, type OpenCall, type InquiryProgress } from './state.ts';

export type Answered = Extract<StrategyEvent, { type: 'model_answered' }>;

/** The answer to a question so far, with the usage of this call added. */
export function storedAnswer(
  progress: InquiryProgress,
  call: OpenCall,
  kind: string,
  { turn, spent }: Answered,
): StoredAnswer {
  const before = progress.answers.get(call.node);
  return {
    node: call.node,
    kind,
    status: 'tools',
    content: null,
    usage: addUsage(before?.usage ?? noUsage, turn.usage),
    elapsedMs: spent?.elapsedMs ?? 0,
    rounds: before?.rounds ?? [],
  };
}

export const answerNode = (answer: StoredAnswer, call: OpenCall, about: number | undefined): StrategyNode => ({
  node: answer.node,
  kind: answer.kind,
  status: answer.status,
  parent: about ?? 0,
  callNo: call.call_no,
  usage: answer.usage,
  elapsedMs: answer.elapsedMs,
  ...(answer.content === null ? {} : { content: answer.content }),
  ...(answer.rounds.length > 0 ? { data: { rounds: answer.rounds as unknown as Json } } : {}),
});

/** An assistant message on the lane of its question. */
export function inquiryEntry(
  run: RunFacts,
  call: OpenCall,
  { turn, contextHash, refs }: Answered,
  calls: ToolCall[],
): EntryDraft {
  const { history } = run.options as CommonOptions;
  return {
    role: 'assistant',
    contextRef: laneOf(run, call.node),
    payload: {
      content: turn.text,
      ...(calls.length > 0 ? { tool_calls: calls as unknown as Json } : {}),
      ...(turn.thinking ? { thinking: turn.thinking } : {}),
      ...(turn.reasoningDetails === undefined ? {} : { reasoning_details: turn.reasoningDetails }),
      ...(turn.providerMetadata === undefined ? {} : { provider_metadata: turn.providerMetadata }),
    },
    refs: {
      context_hash: contextHash,
      ...(history ? { history } : {}),
      llm_call_id: callIdOf(run, call),
      iteration: call.iteration,
      ...(turn.cleaned ? { cleaned: true } : {}),
      ...refs,
    },
  };
}
