import type { z } from 'zod';
import type { Json, Usage } from '../../context/message.ts';
import type { ModelSettings } from '../../models/settings/settings.ts';
import type { RunError } from '../machine.ts';
import type { StrategyNode } from '../node.ts';
import type { commonOptions } from './options.ts';

/**
 * A strategy that asks the model questions of its own: a batch at a time, whose answers decide on the next batch. `inquiry`
 * makes a machine of it.
 *
 * Its functions are pure. The answers are stored as they come, and after a crash `begin` and `learn` are called again with
 * the stored ones: what they return must depend on their arguments alone, and not on the order in which answers came.
 */
export interface StrategyDefinition<Memory, Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** 1 to 64 characters of `[A-Za-z0-9_.-]`. */
  name: string;
  /** Options of its own in snake_case, each with a default; those of `commonOptions` are added. */
  options?: Shape;
  /** Whether questions may offer the model the agent's tools; default false. */
  tools?: boolean;
  /** Maximum model calls of a run whose agent and request set none; default 200. */
  maxIterations?: number;
  /** The first questions. */
  begin(question: string, options: OptionsOf<Shape>): StrategyTurn<Memory>;
  /** What follows from the answers to the last questions, which are in the order of the questions. */
  learn(memory: Memory, answers: StrategyAnswer[], at: StrategyProgress): StrategyTurn<Memory>;
  /** The best result so far, for a run that ends early: at a limit, or after an error. */
  best(memory: Memory, cause: StrategyCause, at: StrategyProgress): StrategyEnding;
}

export type OptionsOf<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>> & z.output<typeof commonOptions>;

/** What a strategy knows now, and what it does next: ask at least one question, or end. */
export type StrategyTurn<Memory> = {
  memory: Memory;
  /** Nodes to add, from `at.nextNode` on, or to change. */
  nodes?: StrategyNode[];
} & ({ questions: StrategyQuestion[]; end?: undefined } | { end: StrategyEnding; questions?: undefined });

export interface StrategyQuestion {
  /** What for, in one word: the kind of the answer's node. */
  purpose: string;
  /** The question. Put text of users through `quote`, so that the model can tell it from your own. */
  prompt: string;
  /** Sent as the system prompt, after that of the lane. */
  system?: string;
  /** The node it is about. */
  about?: number;
  /** Offers the model the agent's tools; default false. */
  tools?: boolean;
  /** Defaults, over which the settings of agent and request go. */
  settings?: ModelSettings;
}

export interface StrategyAnswer {
  question: StrategyQuestion;
  node: number;
  text: string;
  /** Tool rounds on the way to the answer. */
  rounds: number;
}

/** When `learn` or `best` is called. */
export interface StrategyProgress {
  /** The first number free for a node. */
  nextNode: number;
  /** Of all answers so far. */
  usage: Usage;
  /** From the run's start to its last answer, in ms. */
  elapsedMs: number;
  /** The run has reached its `maxDurationMs`: it makes no more calls, whatever is asked. */
  timeUp?: boolean;
}

/** Why a run ends early. */
export interface StrategyCause {
  /** `max_iterations`, `max_total_tokens`, `max_duration`, or `error`. */
  reason: string;
  error?: RunError;
}

/** How a run ends. */
export interface StrategyEnding {
  /** Termination reason. */
  reason: string;
  /** For people: becomes the assistant message of the lane. Null or blank: there is none. */
  answer: string | null;
  /** The result of the run. */
  result: Json;
  /** The run fails, with the result. */
  error?: RunError;
  nodes?: StrategyNode[];
}
