import type { Json, Message } from '../../../agent/context/message.ts';
import type { Expected } from '../item.ts';

/** A case, as a scorer sees it. */
export interface ScoredCase {
  id: string;
  dataset: string;
  tags: string[];
  split: string | null;
  note: string | null;
}

/** The run that gave the answer, as a scorer sees it. */
export interface ScoredRun {
  threadId: string;
  id: string;
  agent: string;
  model: string | null;
  durationMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** In millionths of a US dollar; null if the price is unknown. */
  costMicros: number | null;
}

/** What a scorer gets. */
export interface ScorerInput {
  /** The text of the answer; empty if it consists of tool calls. */
  answer: string;
  /** The tool calls that the run made, in order. */
  toolCalls: { name: string; arguments: Json }[];
  /** What the model was sent for the answer. */
  messages: Message[];
  expected: Expected;
  /** Null for a run that a monitor scores. */
  case: ScoredCase | null;
  run: ScoredRun;
  /** Aborted when the scorer's time is up, or the eval is cancelled. */
  signal: AbortSignal;
}

/** From 0 to 1, or whether the answer passes; null if the scorer does not apply. */
export type ScoreValue = number | boolean | null;

export type ScorerResult = ScoreValue | { score: ScoreValue; reason?: string | null };

export interface ScorerDefinition {
  /** 1 to 64 letters, digits, underscores and hyphens, starting with a letter. */
  name: string;
  /** Change it whenever the same answer may get another score. */
  version?: string;
  /** Default 30,000. */
  timeoutMs?: number;
  score: (input: ScorerInput) => ScorerResult | Promise<ScorerResult>;
}

/** A scorer, made by `defineScorer`. */
export interface Scorer {
  readonly name: string;
  readonly version: string | null;
  readonly timeoutMs: number;
  readonly score: (input: ScorerInput) => ScorerResult | Promise<ScorerResult>;
}
