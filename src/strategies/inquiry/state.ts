import type { Usage } from '../../context/message.ts';
import type { StrategyState } from '../machine.ts';
import type { AnsweredRound, StoredAnswer } from '../node.ts';
import type { StrategyQuestion } from './inquiry.ts';

/** Cursors only: what was asked and answered is in nodes, so that the size does not depend on how much that is. */
export interface InquiryState extends StrategyState {
  /** Number of the last model call started; `<run_id>.<call_no>` is its id. */
  call_no: number;
  /** The run has stored answers, which a later claim must return. */
  nodes?: true;
  /** The questions of the batch that have no answer yet. */
  open: OpenCall[];
  /** The question whose tool round is under way. */
  tool_node?: number;
}

/** A model call under way. */
export interface OpenCall {
  /** The node its answer will be. */
  node: number;
  call_no: number;
  iteration: number;
  retries: number;
}

/** What the machine keeps in memory while the run is driven, and makes again from the stored answers. */
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

/** The tool round that the answer to a question asks for, where it has not started. */
export const waitingRound = ({ answers }: InquiryProgress, node: number): AnsweredRound | undefined => {
  const last = answers.get(node)?.rounds.at(-1);
  return last?.waiting ? last : undefined;
};

export const askOf = ({ batch }: InquiryProgress, node: number): StrategyQuestion =>
  batch.find((item) => item.node === node)!.ask;
