import type { Json, JsonObject, ModelTurn, ToolCall } from '../context/message.ts';

/**
 * A strategy is a pure machine: `(state, event) -> decision`. One runtime interprets the decisions of all of them:
 * it commits the step, then carries out the command, then tells the machine what came of it.
 */
export interface Machine<State extends MachineState = MachineState> {
  readonly name: string;
  /** The first claim has written `request_started` and the `llm_started` of call 1. */
  start(run: RunFacts): Decision<State>;
  /** A later claim: `state` is the last committed one, null when the run died before its first step. */
  resume(run: RunFacts, state: State | null): Decision<State>;
  on(run: RunFacts, state: State, event: MachineEvent): Decision<State>;
}

/** What every machine's state says to the runtime; the rest is the machine's own. At most 64 KB as JSON. */
export interface MachineState {
  /** What the run waits for; the claim reads the ledger of `round` when it is `tools`. */
  phase: 'llm' | 'tools';
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
}

export type MachineEvent =
  | { type: 'model_answered'; turn: ModelTurn; contextHash: string; refs?: JsonObject; tools?: string[] }
  | { type: 'model_failed'; error: RunError; retryable: boolean; retryAfterMs?: number }
  | { type: 'tools_finished'; calls: ToolCall[]; outcomes: Outcome[] }
  /** The answer was not final: input had been queued and is now in the context. */
  | { type: 'continued' };

export interface Decision<State extends MachineState = MachineState> {
  state: State;
  /** Committed before the command is carried out; without it nothing changes in the database. */
  step?: StepDraft;
  command: Command;
}

export type Command =
  | { type: 'call_model'; callId: string; afterMs?: number }
  | { type: 'run_tools'; round: number; calls: ToolCall[] }
  /** The step carries `finish`; where input was queued the runtime answers with `continued`. */
  | { type: 'finish' }
  /** Ends the run by the database, which closes an open tool group first. */
  | { type: 'fail'; error: RunError };

/** One durable advance: what is appended, told and remembered. Events name entries by their offset `e`. */
export interface StepDraft {
  entries?: EntryDraft[];
  events?: EventDraft[];
  /** After input that the commit drains. */
  thenEvents?: EventDraft[];
  calls?: { index: number; id: string; name: string }[];
  outcomes?: { status: Outcome['status']; attempts: number; duration_ms: number }[];
  drain?: boolean;
  finish?: { status: 'completed'; reason: string; result?: Json };
  continue?: { state: MachineState; events: EventDraft[] };
}

export interface EntryDraft {
  role: 'user' | 'assistant' | 'tool';
  payload: JsonObject;
  refs?: JsonObject;
}

export interface EventDraft {
  k: string;
  i: number;
  d?: JsonObject;
  e?: number;
}

export interface Outcome {
  status: 'ok' | 'error' | 'unknown' | 'denied' | 'abandoned';
  content: string;
  attempts: number;
  durationMs: number;
  cleaned?: boolean;
  /** For the tool message, beside what every one has. */
  refs?: JsonObject;
}

/** Why a run failed: `type` is the `error_type` of the taxonomy, `message` is for people. */
export interface RunError {
  type: string;
  message: string;
}
