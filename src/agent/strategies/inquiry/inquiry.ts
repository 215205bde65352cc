import { z } from 'zod';
import type { Json, JsonObject, Usage } from '../../context/message.ts';
import type { ModelSettings } from '../../models/settings.ts';
import type { RunError, StrategyNode, AnsweredRound, StoredAnswer } from '../records.ts';
import type { StrategyState, EventDraft, RunFacts } from '../machine.ts';
import { modelAt, type ChainPlace } from '../fallback.ts';
import { answerFacts, type Answered } from '../turn/events.ts';

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
  /** Its options in snake_case, each with a default; `commonOptions` are added. */
  options?: Shape;
  /** Whether questions may offer the model the agent's tools; default false. */
  tools?: boolean;
  /** Maximum model calls of a run whose agent and request set no maximum; default 200. */
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
  /** Default settings; the agent's and the request's override them. */
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
  /** With which model of the chain the next questions begin; absent: the first. */
  place?: ChainPlace | undefined;
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
  /** Where it is in the chain of models; absent: at the first. */
  place?: ChainPlace | undefined;
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

/** Options of every strategy that asks its own questions. */
export const commonOptions = z.strictObject({
  /** Sends the messages of the lane before every question; otherwise a question is sent alone. */
  history: z.boolean().default(false),
  /** Writes every question and its answer to the log, each on a separate lane named `<run_id>.<node>`. */
  record_thoughts: z.boolean().default(false),
  /** Maximum concurrent model calls. */
  concurrency: z.int().min(1).max(64).default(8),
  /** Maximum tool rounds before the model has to answer a question, if it is offered tools. */
  max_tool_round_trips: z.int().min(0).max(100).default(3),
});

export type CommonOptions = z.output<typeof commonOptions>;

const about = (run: RunFacts, { purpose }: StrategyQuestion, call: OpenCall) => ({
  call_id: callIdOf(run, call),
  node: call.node,
  purpose,
});

export const callStarted = (run: RunFacts, ask: StrategyQuestion, call: OpenCall): EventDraft => ({
  kind: 'llm_started',
  iteration: call.iteration,
  data: { ...about(run, ask, call), model: modelAt(run, call.place) },
});

export const callCompleted = (run: RunFacts, ask: StrategyQuestion, call: OpenCall, event: Answered): EventDraft => ({
  kind: 'llm_completed',
  iteration: call.iteration,
  data: {
    ...about(run, ask, call),
    turn_type: event.turn.toolCalls.length > 0 ? 'tool_calls' : 'answer',
    ...answerFacts(event),
  },
});

/** The worker died or released the run during the call. */
export const callLost = (run: RunFacts, ask: StrategyQuestion, call: OpenCall): EventDraft => ({
  kind: 'llm_lost',
  iteration: call.iteration,
  data: about(run, ask, call),
});

/** A call whose attempt has failed, and that is made again as `attempt` says. */
export const callRetried = (run: RunFacts, ask: StrategyQuestion, call: OpenCall, attempt: JsonObject): EventDraft => ({
  kind: 'llm_retry',
  iteration: call.iteration,
  data: { ...about(run, ask, call), ...attempt },
});
