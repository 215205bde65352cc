import type { Usage } from '../../context/message.ts';
import type { StrategyState } from '../machine.ts';
import type { AnsweredRound, StoredAnswer } from '../node.ts';
import type { StrategyQuestion } from './inquiry.ts';

/**
 * Only cursors: questions and answers are stored in nodes, so the size of the state does not depend on how many there
 * are.
 */
export interface InquiryState extends StrategyState {
  /** Number of the last model call started; `<run_id>.<call_no>` is its id. */
  call_no: number;
  /** The run has stored answers, which a later claim must return. */
  nodes?: true;
  /** The questions of the batch that have no answer yet. */
  open: OpenCall[];
  /** The question of the current tool round. */
  tool_node?: number;
}

/** A model call that has no outcome yet. */
export interface OpenCall {
  /** The node of its future answer. */
  node: number;
  call_no: number;
  iteration: number;
  retries: number;
  /** It was refused as too long and is made once more with a shorter request. */
  shortened?: true;
}

/** What the machine keeps in memory while the run is driven, and rebuilds from the stored answers on resume. */
export interface InquiryProgress<Memory = unknown> {
  memory: Memory;
  /** The questions of the batch, in order. */
  batch: { node: number; ask: StrategyQuestion }[];
  /** The answers to them so far, by node. */
  answers: ReadonlyMap<number, StoredAnswer>;
  nextNode: number;
  usage: Usage;
  elapsedMs: number;
}

export const noUsage: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

export const callIdOf = (run: { runId: string }, { call_no }: { call_no: number }): string => `${run.runId}.${call_no}`;

/** The tool round that the answer to a question asks for, if it has not started. */
export const waitingRound = ({ answers }: InquiryProgress, node: number): AnsweredRound | undefined => {
  const last = answers.get(node)?.rounds.at(-1);
  return last?.waiting ? last : undefined;
};

export const askOf = ({ batch }: InquiryProgress, node: number): StrategyQuestion =>
  batch.find((item) => item.node === node)!.ask;
