import type { StrategyDecision, RunFacts, SpentSoFar, StepDraft } from '../machine.ts';
import { promptedCall } from './conversation.ts';
import {
  callStarted,
  type StrategyDefinition,
  type CommonOptions,
  askOf,
  waitingRound,
  type InquiryState,
  type OpenCall,
  type InquiryProgress,
  type StrategyProgress,
  type OptionsOf,
  type StrategyTurn,
  noUsage,
  type StrategyCause,
  type StrategyEnding,
} from './inquiry.ts';
import { limitReached } from '../limits.ts';
import { addUsage } from '../../context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { StoredAnswer } from '../records.ts';
import type { z } from 'zod';

type Decided<Memory> = StrategyDecision<InquiryState, InquiryProgress<Memory>>;

/**
 * Carries out a turn: asks its questions, within the limits of the run, or ends the run. `step` is committed first.
 *
 * @param started how many of the calls already have their `llm_started` in the trace
 */
export function askBatch<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  { progress, turn }: Folded<Memory>,
  step: StepDraft,
  started = 0,
): Decided<Memory> {
  const nodes = [...(step.nodes ?? []), ...(turn.nodes ?? [])];
  const withNodes = nodes.length > 0 ? { ...step, nodes } : step;
  if (turn.end) return finishInquiry(state, progress, turn.end, withNodes);
  return askQuestions(strategy, run, state, progress, progress.batch, withNodes, { started });
}

/**
 * Starts a model call for each of these questions of the batch, unless a limit of the run forbids it. All earlier calls
 * have their answers, so the limits do not depend on which call was faster.
 */
export function askQuestions<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  questions: readonly { node: number }[],
  step: StepDraft,
  { started = 0, spent }: { started?: number; spent?: SpentSoFar | undefined },
): Decided<Memory> {
  const reason = limitReached(run, state.iteration + questions.length, spentAt(progressOf(progress)));
  if (reason) return endEarly(strategy, state, progress, { reason }, step, spent);
  const open = questions.map(({ node }, i): OpenCall => ({
    node,
    call_no: state.call_no + 1 + i,
    iteration: state.iteration + 1 + i,
    retries: 0,
    ...(state.place ? { place: state.place } : {}),
  }));
  const next: InquiryState = {
    ...state,
    phase: 'llm',
    iteration: state.iteration + open.length,
    call_no: state.call_no + open.length,
    open,
  };
  const events = open.map((call) => callStarted(run, askOf(progress, call.node), call)).slice(started);
  const last = { ...step, events: [...(step.events ?? []), ...events] };
  const empty = last.events.length === 0 && !step.nodes;
  return awaitCalls(run, next, progress, empty ? undefined : last);
}

/** Waits for the answers that are still missing. */
export function awaitCalls<Memory>(
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  step?: StepDraft,
  delayed?: { callId: string; afterMs: number },
): Decided<Memory> {
  const missing = state.open.filter(({ node }) => !waitingRound(progress, node));
  const room = state.room ? { room: state.room } : {};
  const calls = missing.map((open) => ({ ...promptedCall(run, progress, open), ...room }));
  const { concurrency } = run.options as CommonOptions;
  return {
    state,
    memory: progress,
    step,
    command: {
      type: 'call_models',
      limit: concurrency,
      calls: calls.map((call) => (call.callId === delayed?.callId ? { ...call, afterMs: delayed.afterMs } : call)),
    },
  };
}

/** A turn of the strategy, and the progress of the run after it. */
interface Folded<Memory> {
  progress: InquiryProgress<Memory>;
  turn: StrategyTurn<Memory>;
}

type AnyInquiry<Memory> = StrategyDefinition<Memory, z.ZodRawShape>;

export function begin<Memory>(inquiry: AnyInquiry<Memory>, run: RunFacts): Folded<Memory> {
  const turn = inquiry.begin(run.question?.text ?? '', run.options as OptionsOf<z.ZodRawShape>);
  return enter({ nextNode: 1, usage: noUsage, elapsedMs: 0 }, turn);
}

/** The next turn, once every question of the batch is answered. */
export function learn<Memory>(
  inquiry: AnyInquiry<Memory>,
  run: RunFacts,
  progress: InquiryProgress<Memory>,
): Folded<Memory> {
  const { batch, answers, memory } = progress;
  const moment = progressOf(progress);
  const at = { ...moment, timeUp: moment.elapsedMs >= (run.maxDurationMs ?? Infinity) };
  const known = batch.map(({ node, ask }) => {
    const { content, rounds } = answers.get(node)!;
    return { question: ask, node, text: content ?? '', rounds: rounds.length };
  });
  return enter(moment, inquiry.learn(memory, known, at));
}

/** Rebuilds the progress as of the last committed step, by taking the same turns again with the stored answers. */
export function foldAnswers<Memory>(
  inquiry: AnyInquiry<Memory>,
  run: RunFacts,
  stored: readonly StoredAnswer[],
): Folded<Memory> {
  const byNode = new Map(stored.map((answer) => [answer.node, answer]));
  for (let folded = begin(inquiry, run); ; folded = learn(inquiry, run, folded.progress)) {
    const { batch } = folded.progress;
    const found = batch.flatMap(({ node, ask }) => {
      const answer = byNode.get(node);
      if (answer && answer.kind !== ask.purpose) throw changed(inquiry.name, ask.purpose, answer);
      return answer ? [answer] : [];
    });
    folded.progress.answers = new Map(found.map((answer) => [answer.node, answer]));
    if (!folded.turn.questions || !isComplete(folded.progress)) return folded;
  }
}

export const isComplete = ({ batch, answers }: InquiryProgress): boolean =>
  // a strategy may have changed the status of an answer since
  batch.every(({ node }) => (answers.get(node)?.status ?? 'tools') !== 'tools');

/** The progress by all answers so far, of finished batches and of the open one. */
function progressOf({ answers, nextNode, usage, elapsedMs }: InquiryProgress): StrategyProgress {
  const own = [...answers.values()].sort((a, b) => a.node - b.node);
  return {
    nextNode,
    usage: own.reduce((sum, answer) => addUsage(sum, answer.usage), usage),
    elapsedMs: Math.max(elapsedMs, ...own.map((answer) => answer.elapsedMs)),
  };
}

/** What counts towards the limits of a run. It leaves out failed and lost calls, so that a replay decides alike. */
const spentAt = ({ usage, elapsedMs }: StrategyProgress): SpentSoFar => ({
  tokens: usage.total_tokens,
  elapsedMs,
});

function enter<Memory>(at: StrategyProgress, turn: StrategyTurn<Memory>): Folded<Memory> {
  const first = Math.max(at.nextNode, ...(turn.nodes ?? []).map(({ node }) => node + 1));
  const batch = (turn.questions ?? []).map((ask, i) => ({ node: first + i, ask }));
  if (turn.questions?.length === 0) {
    throw new LanefoldError('internal', 'The strategy returned neither a question nor an end.', {
      hint: 'Return at least one question, or an end.',
    });
  }
  const progress = { ...at, memory: turn.memory, batch, answers: new Map(), nextNode: first + batch.length };
  return { progress, turn };
}

const changed = (strategy: string, purpose: string, { node, kind }: StoredAnswer): LanefoldError =>
  new LanefoldError(
    'strategy_changed',
    `The strategy ${strategy} changed during the run: node ${node} answers "${kind}", but the strategy now asks for "${purpose}" there.`,
    { hint: 'The answers stay in run_node. Start a new run.' },
  );

/** Ends the run with the strategy's result, whose `answer` becomes the assistant message of the lane. */
function finishInquiry<Memory>(
  state: InquiryState,
  memory: InquiryProgress<Memory>,
  { reason, answer, result, error, nodes = [] }: StrategyEnding,
  step: StepDraft,
): Decided<Memory> {
  const answered = !error && answer !== null && answer.trim() !== '';
  const entry = { role: 'assistant' as const, payload: { content: answer }, refs: { iteration: state.iteration } };
  return {
    state,
    memory,
    step: {
      ...step,
      ...(nodes.length > 0 ? { nodes: [...(step.nodes ?? []), ...nodes] } : {}),
      ...(answered ? { entries: [...(step.entries ?? []), entry] } : {}),
      finish: error ? { status: 'failed', reason, result, error } : { status: 'completed', reason, result },
    },
    command: { type: 'finish' },
  };
}

/** Ends the run before the strategy has finished, with the best result it has. */
export function endEarly<Memory>(
  strategy: StrategyDefinition<Memory>,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  cause: StrategyCause,
  step: StepDraft,
  spent?: SpentSoFar,
): Decided<Memory> {
  const at = progressOf(progress);
  const ending = strategy.best(progress.memory, cause, {
    ...at,
    elapsedMs: Math.max(at.elapsedMs, spent?.elapsedMs ?? 0),
  });
  return finishInquiry(state, progress, { ...ending, error: cause.error }, step);
}
