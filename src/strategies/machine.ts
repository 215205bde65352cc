import type { StateEffect } from '../context/state.ts';
import type { Json, JsonObject, ModelTurn, ToolCall, Usage } from '../context/message.ts';
import type { Checked } from '../contracts/contract.ts';

export type { Checked };

/**
 * A strategy is a pure machine: `(state, event) -> decision`. One runtime interprets the decisions of all of them:
 * it commits the step, then carries out the command, then tells the machine what came of it.
 */
export interface Machine<State extends MachineState = MachineState> {
  readonly name: string;
  /** The system prompt of runs whose agent has no instructions, where the strategy needs one. */
  readonly prompt?: string;
  /** Whether its model calls have the tools of the agent. */
  readonly tools: boolean;
  /** Whether it keeps output contracts. */
  readonly output: boolean;
  /** The first claim has written `request_started` and the `llm_started` of call 1. */
  start(run: RunFacts): Decision<State>;
  /** A later claim: `state` is the last committed one, null when the run died before its first step. */
  resume(run: RunFacts, state: State | null): Decision<State>;
  on(run: RunFacts, state: State, event: MachineEvent): Decision<State>;
  /** What a run tells besides its result, read from its last answer. */
  details?(answer: string): JsonObject;
}

/** What every machine's state says to the runtime; the rest is the machine's own. At most 64 KB as JSON. */
export interface MachineState {
  /** What the run waits for; the claim reads the ledger of `round` when it is `tools`. */
  phase: 'llm' | 'tools' | 'output';
  iteration: number;
  round: number;
  /** The only tools the calls of the round may use, where its turn was told of fewer than the run has. */
  tools?: string[] | undefined;
}

/** What does not change during a run. */
export interface RunFacts {
  runId: string;
  model: string;
  maxIterations: number;
  maxModelRetries: number;
  /** Default true. */
  cycleWarning?: boolean;
  /** The run's output contract, where it has one. */
  output?: {
    mode: 'repair' | 'error';
    maxRepairs: number;
    /** What the events say of it. */
    meta: JsonObject;
  };
}

export type MachineEvent =
  | {
      type: 'model_answered';
      turn: ModelTurn;
      contextHash: string;
      refs?: JsonObject;
      /** The tools of this turn, where they were fewer than the run's. */
      tools?: string[];
      /** Whether the text fits the run's contract, where there is one. */
      checked?: Checked;
    }
  | { type: 'model_failed'; error: RunError; retryable: boolean; retryAfterMs?: number }
  | { type: 'tools_finished'; calls: ToolCall[]; outcomes: Outcome[] }
  | { type: 'output_repaired'; checked: Checked; usage?: Usage }
  /** The answer was not final: input had been queued and is now in the context. */
  | { type: 'continued' };

export interface Decision<State extends MachineState = MachineState> {
  state: State;
  /** Committed before the command is carried out; without it nothing changes in the database. */
  step?: StepDraft;
  command: Command;
}

export type Command =
  | { type: 'call_model'; callId: string; afterMs?: number; tools?: false }
  | { type: 'run_tools'; round: number; calls: ToolCall[] }
  /** Asks for the run's last answer, or for `text` in its place, as the object the contract wants. */
  | { type: 'repair_output'; attempt: number; error: string; text?: string; afterMs?: number }
  /** The step carries `finish`; where input was queued the runtime answers with `continued`. */
  | { type: 'finish' }
  /** Ends the run by the database, which closes an open tool group first. */
  | { type: 'fail'; error: RunError; events?: EventDraft[] };

/** One durable advance: what is appended, told and remembered. Events name entries by their offset `entry`. */
export interface StepDraft {
  entries?: EntryDraft[];
  events?: EventDraft[];
  /** After input that the commit drains. */
  thenEvents?: EventDraft[];
  calls?: { index: number; id: string; name: string }[];
  outcomes?: { status: Outcome['status']; attempts: number; duration_ms: number }[];
  /** On the thread's state, of the round that ends, in call order. */
  effects?: (StateEffect & { call_index: number })[];
  drain?: boolean;
  /** `events` and `output` are told only if the run does end with this step. */
  finish?: { status: 'completed'; reason: string; result?: Json; events?: EventDraft[]; output?: JsonObject };
  /** Closes the input queue, as `finish` does, while the run goes on. */
  seal?: true;
  /** In place of `finish` or `seal` where input is queued. */
  continue?: { state: MachineState; events: EventDraft[] };
}

export interface EntryDraft {
  role: 'user' | 'assistant' | 'tool';
  payload: JsonObject;
  refs?: JsonObject;
}

/** An event for the run's trace. */
export interface EventDraft {
  kind: string;
  iteration: number;
  data?: JsonObject;
  /** Which of the step's entries the event is about, from 0. */
  entry?: number;
}

export interface Outcome {
  status: 'ok' | 'error' | 'unknown' | 'denied' | 'abandoned';
  content: string;
  attempts: number;
  durationMs: number;
  cleaned?: boolean;
  /** On the thread's state; those the policy has refused are told and not made. */
  effects?: StateEffect[];
  refused?: { op: string; reason: string }[];
  /** For the tool message, beside what every one has. */
  refs?: JsonObject;
}

/** Why a run failed: `type` is the `error_type` of the taxonomy, `message` is for people. */
export interface RunError {
  type: string;
  message: string;
}
