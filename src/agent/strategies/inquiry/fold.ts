import { addUsage } from '../../context/usage.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { RunFacts, SpentSoFar } from '../machine.ts';
import type { StoredAnswer } from '../node.ts';
import type { StrategyDefinition, StrategyProgress, OptionsOf, StrategyTurn } from './inquiry.ts';
import { noUsage, type InquiryProgress } from './state.ts';
import type { z } from 'zod';

/** A turn of the strategy, and the progress of the run after it. */
export interface Folded<Memory> {
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
export function progressOf({ answers, nextNode, usage, elapsedMs }: InquiryProgress): StrategyProgress {
  const own = [...answers.values()].sort((a, b) => a.node - b.node);
  return {
    nextNode,
    usage: own.reduce((sum, answer) => addUsage(sum, answer.usage), usage),
    elapsedMs: Math.max(elapsedMs, ...own.map((answer) => answer.elapsedMs)),
  };
}

/** What counts towards the limits of a run. It leaves out failed and lost calls, so that a replay decides alike. */
export const spentAt = ({ usage, elapsedMs }: StrategyProgress): SpentSoFar => ({
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
