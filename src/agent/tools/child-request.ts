import type { JsonObject } from '../context/message.ts';

/** What a call asks of another agent. */
export interface AgentTask {
  /** The user message. */
  input: string;
  /**
   * What the agent knows besides: `none` (default), or a `fork` of the lane of its caller, as it was before the call.
   */
  context?: 'none' | 'fork';
  /** Merged over the agent's `toolContext`; the tool context of the caller is not passed on by itself. */
  toolContext?: JsonObject;
  /** Overrides the agent's model for this run. */
  model?: string;
  /** US dollars; at most what is left of the caller's `maxCost`. */
  maxCost?: number;
  maxIterations?: number;
}

export interface ChildRequest extends AgentTask {
  agent: string;
}

/** A run that a call has started, by its thread and id. */
export interface RunOfAgent {
  threadId: string;
  id: string;
}
