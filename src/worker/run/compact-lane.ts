import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { ModelTurn } from '../../agent/context/message.ts';
import {
  planCompaction,
  type CompactionPlan,
  summaryInstruction,
  summaryMessage,
  summaryPromptVersion,
} from '../../agent/policy/compaction.ts';
import type { StoredPolicy, ContextRoom } from '../../agent/policy/policy.ts';
import type {
  RunError,
  CompactionDraft,
  CompactionOutcome,
  CompactionRequest,
} from '../../agent/strategies/records.ts';
import type { Attempt } from '../../agent/strategies/machine.ts';
import { callModel } from './call-model.ts';
import type { RunDependencies } from './dependencies.ts';
import type { ActiveRun } from './open-run.ts';
import { budgetOf, defaultPolicy } from './fit-context.ts';
import { askedOf, roomOf } from './prepare-call.ts';

/** Share of the budget that the messages kept by a compaction may take. */
const stayingShare = 0.3;

/**
 * Has the model summarise part of the run's context. The request is the context as the run would send it, followed by
 * the instruction, so that the provider's cache covers all of the context. Writes nothing.
 */
export async function compactLane(
  deps: RunDependencies,
  { run, claim, agent, context }: ActiveRun,
  {
    callId,
    afterMs,
    request,
    iteration,
    room,
    ...attempt
  }: Attempt & { callId: string; afterMs?: number; request: CompactionRequest; iteration: number; room?: ContextRoom },
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { placed } = context;
  const messages = placed.filter(({ message }) => message.role !== 'system');
  const model = askedOf(claim, attempt);
  const known = roomOf(deps.counting, context, model, room);
  const budget = await budgetOf(deps.counting, model.model, agent, known);
  const heuristic = deps.counting.heuristicOf(model.model);
  const plan = planCompaction(
    messages,
    messages.map(({ message }) => heuristic(message)),
    {
      range: request.range,
      keepTurns: request.keepTurns ?? agent.contextPolicy?.keep_last_turns,
      room: budget === null ? undefined : budget * stayingShare,
    },
  );
  if (!plan) return { type: 'compacted', status: 'unchanged' };
  const asked = context.followedBy({ role: 'user', content: summaryInstruction(messages, plan) });
  const call = {
    ...attempt,
    callId,
    iteration,
    quiet: true as const,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(known ? { room: known } : {}),
  };
  const answer = await callModel(deps, run, asking(agent), claim, asked, call, signal);
  if (answer.type === 'model_failed') {
    const { type: _, error, callId: __, written: ___, ...more } = answer;
    return failed(error, more);
  }
  if (answer.type !== 'model_answered')
    return failed({ type: 'compaction', message: `The compaction ended with ${answer.type}. The lane is unchanged.` });
  const { turn, refs } = answer;
  // set only if it is not the run's
  const by = refs?.['model'] as string | undefined;
  const summary = summaryMessage(turn.text);
  const tokens = heuristic({ role: 'user', content: summary['content'] as string });
  const error = faultOf(turn, tokens, plan);
  if (error) return failed(error, { usage: turn.usage, model: by });
  const before = placed.reduce((sum, { message }) => sum + heuristic(message), 0);
  const compaction: CompactionDraft = {
    op_id: `compaction/${callId}`,
    base_seq: messages.at(-1)!.seq,
    keep: plan.keep,
    at: plan.at,
    summary,
    meta: {
      covered: plan.entries,
      messages: plan.covered.length,
      cause: request.cause,
      model: by ?? claim.model,
      run_id: run.runId,
      usage: { ...turn.usage },
      prompt_version: summaryPromptVersion,
      tokens_before: before,
      tokens_after: before - plan.tokens + tokens,
    },
  };
  return { type: 'compacted', status: 'compacted', compaction, usage: turn.usage, model: by };
}

/**
 * The agent with the same prompt, tools and settings, whose context is cut only where it exceeds what the model takes.
 */
function asking({ output: _, contextPolicy, ...agent }: ReadyAgent): ReadyAgent {
  const { max_input_tokens: _limit, projector: _projector, ...policy } = contextPolicy ?? defaultPolicy;
  return { ...agent, contextPolicy: { ...policy, max_messages: 0 } satisfies StoredPolicy };
}

/** Why an answer cannot replace the messages it summarises; undefined if it can. */
function faultOf(
  { text, toolCalls, finishReason }: ModelTurn,
  tokens: number,
  plan: CompactionPlan,
): RunError | undefined {
  const is = (type: string, message: string): RunError => ({ type, message: `${message} The lane is unchanged.` });
  if (toolCalls.length > 0) return is('summary_called_tools', 'The model called tools instead of writing a summary.');
  if (text.trim() === '') return is('summary_empty', 'The summary is empty.');
  if (finishReason === 'length') return is('summary_cut', 'The summary was cut off at the limit of output tokens.');
  if (tokens >= plan.tokens)
    return is(
      'summary_too_long',
      `The summary has about ${tokens} tokens; the messages it replaces have ${plan.tokens}.`,
    );
  return undefined;
}

const failed = (error: RunError, more: Partial<CompactionOutcome> = {}): CompactionOutcome => ({
  type: 'compacted',
  status: 'failed',
  error,
  ...more,
});
