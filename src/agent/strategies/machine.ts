import type { z } from 'zod';
import type { StateEffect } from '../context/state.ts';
import type { AnswerCut, OnCut } from '../context/fold.ts';
import type { ContentPart, Json, JsonObject, Message, ModelTurn, ToolCall, Usage } from '../context/message.ts';
import type { Checked } from '../contracts/contract.ts';
import type { ModelSettings } from '../models/settings.ts';
import type { FallbackReason } from '../models/fallback-reason.ts';
import type { ModelChain } from '../models/model-chain.ts';
import type { ContextRoom } from '../policy/policy.ts';
import type {
  RunEventKind,
  StrategyNode,
  StoredAnswer,
  RunError,
  StrategySelection,
  CompactionDraft,
  CompactionOutcome,
  CompactionRequest,
} from './records.ts';

/**
 * A strategy as a pure state machine: `(state, event) -> decision`. One runtime drives all strategies: it commits the
 * decision's step, executes its command, and passes the result back as the next event.
 */
export interface StrategyMachine<State extends StrategyState = StrategyState, Memory = unknown> {
  readonly name: string;
  /** The system prompt of runs whose agent has no instructions. */
  readonly prompt?: string;
  /** Whether model calls are offered the agent's tools. */
  readonly tools: boolean;
  /** Whether it supports output contracts. */
  readonly output: boolean;
  /** Whether its runs take steering and injected input; default true. */
  readonly input?: boolean;
  /** Its options in snake_case, with their defaults; without a schema it takes no options. */
  readonly options?: z.ZodType<JsonObject>;
  /** Set on a strategy that only selects the strategy of a run; its other functions are not called. */
  select?(question: string, options: JsonObject): StrategySelection;
  /** Maximum model calls of a run whose agent and request set no maximum; default 10. */
  readonly maxIterations?: number;
  /** The run's first decision. The claim has already written `request_started` and the `llm_started` of call 1. */
  start(run: RunFacts): StrategyDecision<State, Memory>;
  /**
   * The first decision of a later claim. `state` is the last one committed, or null if the run never committed a step.
   * `answers` are the answers that the run has stored as nodes.
   */
  resume(run: RunFacts, state: State | null, answers?: readonly StoredAnswer[]): StrategyDecision<State, Memory>;
  /** The decision on the result of the last command. `memory` comes from the last decision. */
  on(run: RunFacts, state: State, event: StrategyEvent, memory?: Memory): StrategyDecision<State, Memory>;
  /** The `details` of a run's snapshot, read from its last answer. */
  details?(answer: string): JsonObject;
}

/** The fields of a state that the runtime and the database read; each strategy adds its own. At most 64 KB as JSON. */
export interface StrategyState {
  /** What the run waits for: a model call, the tools of `round`, or a repair of its output. */
  phase: 'llm' | 'tools' | 'output';
  /** From 1. */
  iteration: number;
  /** Number of the last tool round started; 0 before the first. */
  round: number;
  /** Set by the commit that gave the run to another agent, for the next worker: what that agent sees. */
  handed?: 'whole' | 'summary' | undefined;
  /** Set once the model has refused a request as too long: later requests of the run go by it. */
  room?: ContextRoom | undefined;
  /** The only tools the calls of this round may use, if the model was offered fewer than the run has. */
  tools?: string[] | undefined;
  /** How the answer that makes the calls of this round was cut: they may not run. */
  cut?: AnswerCut | undefined;
}

/** The request as seen by a strategy that asks its own questions. */
export interface RunQuestion {
  /** The text of the user message. */
  text: string;
  /** Its other parts, such as images. */
  parts: ContentPart[];
  /** The system prompt of the lane; null without one. */
  system: string | null;
  /** The messages of the lane before the question. */
  history: readonly MarkedMessage[];
}

/** A message, with the mark that context policies read if it is a summary or durable. */
export type MarkedMessage = Message & { refs?: JsonObject };

/** What a run has used so far. */
export interface SpentSoFar {
  tokens: number;
  /** Time since the run started, including waits for approval. */
  elapsedMs: number;
}

/** Facts that do not change while a run is driven. */
export interface RunFacts {
  runId: string;
  model: string;
  /** The models that may answer, the model of the run first; absent if there is no other. */
  chain?: ModelChain;
  /** The model of the chain that answered last on the lane, if the chain is sticky for threads: its index. */
  chainStart?: number;
  /** Whether it has waited until it may call a model. */
  waited?: true;
  maxIterations: number;
  maxModelRetries: number;
  /** A run that has used this many tokens ends with the best result it has; absent: no limit. */
  maxTotalTokens?: number;
  maxDurationMs?: number;
  /** What the run had used when it was claimed. */
  spent?: SpentSoFar;
  question?: RunQuestion;
  /** Validated options of the strategy, with their defaults. */
  options?: JsonObject;
  /** For a run that only compacts its lane: what to compact. */
  compaction?: CompactionRequest;
  /** Whether to warn a model that repeats its tool calls; default true. */
  cycleWarning?: boolean;
  /** What to do with a text that was cut; default `end`. */
  onCut?: OnCut;
  /** The text of the cut answers that the run was continuing when it was claimed. */
  cutText?: string;
  /** The run's output contract, if any. */
  output?: {
    mode: 'repair' | 'error';
    maxRepairs: number;
    /** Describes the contract in events. */
    meta: JsonObject;
  };
}

/** The result of a command. The runtime adds what the run has used by then. */
export type StrategyEvent = CommandResult & { spent?: SpentSoFar };

type CommandResult =
  | {
      type: 'model_answered';
      /** The answered call. */
      callId?: string;
      turn: ModelTurn;
      contextHash: string;
      refs?: JsonObject;
      /** The tools offered to the model, if fewer than the run has. */
      tools?: string[];
      /** Set if the answer was cut. */
      cut?: AnswerCut;
      /** The whole text, if this answer continues one that was cut. */
      whole?: string;
      /** Whether the text meets the run's contract; set on answers without tool calls. */
      checked?: Checked;
    }
  | {
      type: 'model_failed';
      callId?: string;
      error: RunError;
      retryable: boolean;
      retryAfterMs?: number;
      /** The request was too long for the model, and a shorter one is possible. */
      room?: ContextRoom;
      /** The kind of failure, for a chain of models. */
      reason?: FallbackReason;
      /** What the model had written by then. */
      written?: { text: string; thinking: string };
      /** Tokens of the attempt, as far as they are known or can be estimated. */
      usage?: Usage;
      /** The model that failed, if it is not the run's. */
      model?: string | undefined;
    }
  /** The context exceeds the budget of a policy that wants it summarised. The call was not made. */
  | { type: 'over_budget' }
  | CompactionOutcome
  /** The run has reached `maxDurationMs`; running model calls were aborted. */
  | { type: 'time_up' }
  | { type: 'tools_finished'; calls: ToolCall[]; outcomes: CallOutcome[] }
  | { type: 'output_repaired'; checked: Checked; usage?: Usage; model?: string | undefined }
  /** Input was queued: the run did not finish, and the context now contains the input. */
  | { type: 'continued' };

export interface StrategyDecision<State extends StrategyState = StrategyState, Memory = unknown> {
  state: State;
  /** Passed to the next `on`, never stored; `resume` rebuilds it. For data that is too large for the state. */
  memory?: Memory;
  /** Committed before the command is executed; without a step, the new state is not stored. */
  step?: StepDraft;
  command: Command;
}

/** Which model of the chain a call asks. */
export interface Attempt {
  /** Default: the model of the run. */
  model?: string;
  /** Another model can be asked after these failures: what else makes the run wait, such as a limit, fails the attempt. */
  passesOn?: readonly FallbackReason[];
}

export type Command =
  /**
   * Calls the model. `tools: false` offers it no tools. `compacted`: cuts the context if it is still over budget. `earlier`:
   * the text that the answer continues.
   */
  | (Attempt & {
      type: 'call_model';
      callId: string;
      afterMs?: number;
      tools?: false;
      compacted?: true;
      earlier?: string;
      room?: ContextRoom;
    })
  /** Has the model summarise the context; the next event carries the replacement for a step to commit. */
  | (Attempt & { type: 'compact'; callId: string; afterMs?: number; request: CompactionRequest; room?: ContextRoom })
  /**
   * The model calls that the strategy waits for, in starting order, at most `limit` at a time. The next event is the
   * outcome of one of them; the others keep running until a command of this type leaves them out.
   */
  | { type: 'call_models'; calls: PromptedCall[]; limit: number }
  /** Runs `calls` or, if empty, the calls of the last assistant message. `iteration` defaults to the state's. */
  | { type: 'run_tools'; round: number; calls: ToolCall[]; iteration?: number }
  /** Repairs the run's last answer, which violates the contract for the reason in `error`. */
  | (Attempt & { type: 'repair_output'; attempt: number; error: string; afterMs?: number; earlier?: string })
  /** The step has ended the run; if input was queued, the next event is `continued` instead. */
  | { type: 'finish' }
  /** Fails the run. The database closes an open tool group. */
  | { type: 'fail'; error: RunError; events?: EventDraft[] };

/** A model call with the strategy's own messages instead of the lane's context. */
export interface PromptedCall extends Attempt {
  callId: string;
  iteration: number;
  messages: MarkedMessage[];
  /** Offers the model no tools. */
  tools?: false;
  /** Default settings; the agent's and the request's override them. */
  settings?: ModelSettings;
  afterMs?: number;
  room?: ContextRoom;
}

/** What one durable commit writes. */
export interface StepDraft {
  /** Appended to the log. */
  entries?: EntryDraft[];
  events?: EventDraft[];
  /** Written after the events of the input that the commit drains. */
  thenEvents?: EventDraft[];
  /** Nodes to add, or to change. */
  nodes?: StrategyNode[];
  /** Ledger rows of the tool round that starts, which is `round` of the state. */
  calls?: { index: number; id: string; name: string }[];
  /** The entry that makes those calls; default the first. */
  callsAt?: number;
  /**
   * Outcomes of the tool round that ends, in call order; its messages are the first entries. Together with `calls`,
   * they belong to the previous round.
   */
  outcomes?: { status: CallOutcome['status']; attempts: number; duration_ms: number }[];
  /** Changes to the thread's state made by the round that ends, in call order. */
  effects?: (StateEffect & { call_index: number })[];
  /** Replaces the context of the run's lane, after the entries. */
  compact?: CompactionDraft;
  /** Appends the queued input after the entries. */
  drain?: boolean;
  /**
   * Ends the run. Without `result`, the last entry is the result; null means no result. `events` and `output` apply
   * only if the step really ends the run. `cancelled` is for the runtime.
   */
  finish?: {
    status: 'completed' | 'failed' | 'cancelled';
    reason: string;
    result?: Json;
    /** Why the model stopped writing the answer with which the run ends; null: the provider did not say. */
    finish_reason?: string | null;
    /** Why the run failed. */
    error?: RunError;
    events?: EventDraft[];
    output?: JsonObject;
  };
  /** Closes the input queue, as `finish` does, without ending the run. */
  seal?: true;
  /** Applied instead of `finish` or `seal` if input is queued; that input is drained. */
  continue?: { state: StrategyState; events: EventDraft[] };
}

/** An entry for the log: a message, or the system prompt of a lane that the strategy opens. */
export interface EntryDraft {
  /** Default: a message. */
  kind?: 'ai_config_change';
  /** Null for an entry that is not a message. */
  role: 'user' | 'assistant' | 'tool' | null;
  payload: JsonObject;
  refs?: JsonObject;
  /** A separate lane, which is not part of the run's context; default the run's lane. */
  contextRef?: string;
}

/** An event for the run's trace. */
export interface EventDraft {
  kind: RunEventKind;
  iteration: number;
  data?: JsonObject;
  /** Index of the step's entry that the event is about. */
  entry?: number;
}

/** The outcome of a tool call. */
export interface CallOutcome {
  status: 'ok' | 'error' | 'unknown' | 'denied' | 'abandoned';
  content: string;
  attempts: number;
  durationMs: number;
  /** Text that PostgreSQL cannot store was replaced. */
  cleaned?: boolean;
  /** Changes to the thread's state. */
  effects?: StateEffect[];
  /** Changes rejected by the effect policy, for the trace. */
  refused?: { op: string; reason: string }[];
  /** Added to the refs of the tool message. */
  refs?: JsonObject;
}
