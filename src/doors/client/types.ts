import type { AgentResult, Known, WithResult } from '../../agent/contracts/contract.ts';
import type { Json, JsonObject, NewRun, RunReceipt, RunRef } from './operations.ts';

/** What the client knows of an agent: its name, and the type of its results. */
export interface KnownAgent {
  readonly name: string;
}

/** A list of agents, as `typeof agents` of the module that defines them. */
export type KnownAgents = readonly KnownAgent[];

/** The names that requests may give; any string if the agents are not known at compile time. */
export type AgentName<AGENTS extends KnownAgents> = AGENTS[number]['name'];

/** A run by its thread and id, with the type of its result. */
export type RunOf<RESULT> = RunRef & WithResult<RESULT>;

/** An accepted run. */
export interface RunHandle<RESULT = unknown> extends RunReceipt, WithResult<RESULT> {}

/**
 * The type of the result of a run of the agent NAME. OUT is the `output` of its request and CHOSEN the strategy it
 * names; without them they are `undefined`.
 */
export type ClientResult<AGENTS extends KnownAgents, NAME, OUT, CHOSEN> = [CHOSEN] extends [undefined]
  ? [OUT] extends [undefined]
    ? AgentResult<Extract<AGENTS[number], { name: NAME }>>
    : OUT extends 'raw' | { mode: 'raw' }
      ? string
      : JsonObject
  : Json;

/** The type of a result that may be unknown. */
export type ResultOr<RESULT> = Known<RESULT>;

/** Ends the call: it rejects with the reason of the signal. What the server has done by then stays done. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** A run to start. */
export interface EnqueueOptions<
  NAME extends string = string,
  OUT = NewRun['output'],
  CHOSEN = string | undefined,
> extends Omit<NewRun, 'agent' | 'output' | 'strategy'> {
  agent: NAME;
  /** Default: a new thread. */
  threadId?: string;
  output?: OUT;
  strategy?: CHOSEN;
}

/** A page of a list. Pass `nextAfter` as `after` for the next one; null at the end. */
export interface Page<ITEM, CURSOR = string> {
  data: ITEM[];
  nextAfter: CURSOR | null;
}
