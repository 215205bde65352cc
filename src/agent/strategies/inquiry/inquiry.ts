import type { z } from 'zod';
import type { Json, Usage } from '../../context/message.ts';
import type { ModelSettings } from '../../models/settings/settings.ts';
import type { RunError } from '../run-error.ts';
import type { StrategyNode } from '../node.ts';
import type { commonOptions } from './options.ts';

/**
 * A strategy that asks the model its own questions, a batch at a time; the answers to a batch decide on the next one.
 * `defineStrategy` turns it into a state machine.
 *
 * Its functions must be pure. Answers are stored as they arrive, and after a crash `begin` and `learn` are called again
 * with the stored answers: their results must depend only on their arguments, not on the order in which answers
 * arrived.
 */
export interface StrategyDefinition<Memory, Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** 1 to 64 characters of `[A-Za-z0-9_.-]`. */
  name: string;
  /** Its options in snake_case, each with a default; those of `commonOptions` are added. */
  options?: Shape;
  /** Whether questions may offer the model the agent's tools; default false. */
  tools?: boolean;
  /** Maximum model calls of a run whose agent and request set none; default 200. */
  maxIterations?: number;
  /** The first questions. */
  begin(question: string, options: OptionsOf<Shape>): StrategyTurn<Memory>;
  /** The next turn, given the answers to the last questions, in the order of the questions. */
  learn(memory: Memory, answers: StrategyAnswer[], at: StrategyProgress): StrategyTurn<Memory>;
  /** The best result so far, for a run that ends early: at a limit, or after an error. */
  best(memory: Memory, cause: StrategyCause, at: StrategyProgress): StrategyEnding;
}

export type OptionsOf<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>> & z.output<typeof commonOptions>;

/** What a strategy remembers, and what it does next: ask at least one question, or end. */
export type StrategyTurn<Memory> = {
  memory: Memory;
  /** Nodes to add, from `at.nextNode` on, or to change. */
  nodes?: StrategyNode[];
} & ({ questions: StrategyQuestion[]; end?: undefined } | { end: StrategyEnding; questions?: undefined });

export interface StrategyQuestion {
  /** The purpose in one word; it becomes the kind of the node of the answer. */
  purpose: string;
  /** The question. Wrap user text in `quote`, so that the model can tell it from the text of the strategy. */
  prompt: string;
  /** Sent as a system prompt, after the system prompt of the lane. */
  system?: string;
  /** The node it is about. */
  about?: number;
  /** Offers the model the agent's tools; default false. */
  tools?: boolean;
  /** Default settings; those of the agent and the request override them. */
  settings?: ModelSettings;
}

export interface StrategyAnswer {
  question: StrategyQuestion;
  node: number;
  text: string;
  /** Tool rounds it took to get the answer. */
  rounds: number;
}

/** The progress of the run when `learn` or `best` is called. */
export interface StrategyProgress {
  /** The first free node number. */
  nextNode: number;
  /** Usage of all answers so far. */
  usage: Usage;
  /** From the run's start to its last answer, in ms. */
  elapsedMs: number;
  /** The run has reached its `maxDurationMs`: it makes no more calls, even if the turn asks questions. */
  timeUp?: boolean;
}

/** Why a run ends early. */
export interface StrategyCause {
  /** `max_iterations`, `max_total_tokens`, `max_duration`, `budget_exhausted`, or `error`. */
  reason: string;
  error?: RunError;
}

/** How a run ends. */
export interface StrategyEnding {
  /** Termination reason. */
  reason: string;
  /** For people: becomes the assistant message of the lane. If null or blank, no message is written. */
  answer: string | null;
  /** The result of the run. */
  result: Json;
  /** If set, the run fails, but keeps the result. */
  error?: RunError;
  nodes?: StrategyNode[];
}
